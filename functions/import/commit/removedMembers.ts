import { holdMemberRemovals } from '../../../shared/accounts/memberRemovals.ts';
import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import { orgMemberSection } from '../../../shared/organisation/sections/members.ts';
import type { Transaction } from '../../../shared/store/store.ts';
import { changedMeanwhile } from '../decide/decide.ts';

/** Whether a command can remove the record while an import runs, so that it must not be created anew. */
export function isRemovable({ record }: RecordPlan): boolean {
  return record.section === orgMemberSection;
}

/**
 * Finds the members that were removed during the import, and requires that none is before the commit.
 * @param count the number of removals before the import
 * @returns the members, each with its issue
 */
export async function findRemovedMembers(
  transaction: Transaction,
  plans: readonly RecordPlan[],
  count: number,
): Promise<ReadonlyMap<RecordPlan, RecordIssue>> {
  const members = plans.filter(isRemovable);
  if (members.length === 0) return new Map();
  const isRemoved = await holdMemberRemovals(transaction, count);
  return new Map(members.filter(({ key }) => isRemoved(key)).map((plan) => [plan, changedMeanwhile(plan)]));
}
