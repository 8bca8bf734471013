import { holdMemberRemovals } from '../../../shared/accounts/memberRemovals.ts';
import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import { orgMemberSection } from '../../../shared/organisation/sections/members.ts';
import type { Transaction } from '../../../shared/store/store.ts';
import { changedMeanwhile } from '../decide/decide.ts';

/**
 * Finds the members that a command has removed during the import, so that they must not be created anew, and requires that
 * none is removed before the commit.
 * @param count the number of removals before the import
 * @returns the members, each with its issue
 */
export async function findRemovedMembers(
  transaction: Transaction,
  plans: readonly RecordPlan[],
  count: number,
): Promise<ReadonlyMap<RecordPlan, RecordIssue>> {
  const members = plans.filter(({ record }) => record.section === orgMemberSection);
  if (members.length === 0) return new Map();
  const isRemoved = await holdMemberRemovals(transaction, count);
  return new Map(members.filter(({ key }) => isRemoved(key)).map((plan) => [plan, changedMeanwhile(plan)]));
}
