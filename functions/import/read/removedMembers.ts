import { holdMemberRemovals } from '../../../shared/accounts/memberRemovals.ts';
import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { orgMemberSection } from '../../../shared/organisation/sections/members.ts';
import type { Transaction } from '../../../shared/store/store.ts';

/**
 * Finds the members that a command has removed during the import, so that the import does not create them again.
 * Requires that no member is removed before the commit.
 * @param count the number of removals before the import
 */
export async function findRemovedMembers(
  transaction: Transaction,
  plans: readonly RecordPlan[],
  count: number,
): Promise<ReadonlySet<RecordPlan>> {
  const members = plans.filter(({ record }) => record.section === orgMemberSection);
  if (members.length === 0) return new Set();
  const isRemoved = await holdMemberRemovals(transaction, count);
  return new Set(members.filter(({ key }) => isRemoved(key)));
}
