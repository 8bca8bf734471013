import { holdMemberRemovals } from '../../../shared/accounts/memberRemovals.ts';
import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { orgMemberSection } from '../../../shared/organisation/sections/members.ts';
import type { Transaction } from '../../../shared/store/store.ts';

/**
 * Finds members that a command removed during the import, so that the import does not give them roles again. If a
 * further member is removed before the commit, the commit fails.
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
