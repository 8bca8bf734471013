import { holdMemberRemovals } from '../../../shared/accounts/memberRemovals.ts';
import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { orgMemberSection } from '../../../shared/organisation/sections/members.ts';
import type { Transaction } from '../../../shared/store/store.ts';

/**
 * Finds members that a command removed during this import. The import must not give them their roles again. If a
 * command removes another member before the transaction commits, the commit fails.
 * @param count the number of removals before this import
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
