import { instanceMemberKey, parseRoles } from '../../../shared/auth/authorise.ts';
import { textAt } from '../../../shared/json/jsonObject.ts';
import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { KeptState, RecordIssue } from '../../../shared/organisation/relations.ts';
import { documentPath, type StoredDocument, type Transaction } from '../../../shared/store/store.ts';
import type { BatchContext } from './batchContext.ts';
import { isSameRecord, stateChange } from './comparison.ts';

/** A record that would change a state, and the issues if it is one to keep. */
interface Change {
  readonly plan: RecordPlan;
  readonly keepsState: KeptState;
}

/**
 * Finds the records whose overwriting would change a state that an import must keep: that of the caller, of its
 * organisation, or of a user with a role of the instance. The roles that it reads must not change before the commit.
 * @param documents the stored records, by `documentPath`
 * @returns the records, each with its issue
 */
export async function findKeptStates(
  { onConflict, callerPaths }: BatchContext,
  transaction: Transaction,
  documents: ReadonlyMap<string, StoredDocument>,
  plans: readonly RecordPlan[],
): Promise<Map<RecordPlan, RecordIssue>> {
  const kept = new Map<RecordPlan, RecordIssue>();
  if (onConflict !== 'overwrite') return kept;
  const changes = plans.flatMap((plan) => toChange(plan, documents.get(documentPath(plan.key))));
  const members = await findInstanceMembers(transaction, changes);
  for (const { plan, keepsState } of changes) {
    const isOfCaller = callerPaths?.has(documentPath(plan.key)) === true;
    const issue = isOfCaller ? keepsState.ofCaller : members.get(plan);
    if (issue !== undefined) kept.set(plan, issue);
  }
  return kept;
}

function toChange(plan: RecordPlan, stored: StoredDocument | undefined): Change[] {
  const { keepsState } = plan.record.section.overwrite ?? {};
  if (keepsState === undefined || stored === undefined || !isSameRecord(plan, stored)) return [];
  return stateChange(plan, stored) === undefined ? [] : [{ plan, keepsState }];
}

/** Finds the records of users with a role of the instance, each with its issue. */
async function findInstanceMembers(
  transaction: Transaction,
  changes: readonly Change[],
): Promise<Map<RecordPlan, RecordIssue>> {
  const users = changes.flatMap(({ plan, keepsState: { ofInstanceMember: issue } }) =>
    issue === undefined ? [] : [{ plan, issue, key: memberKey(plan) }],
  );
  if (users.length === 0) return new Map();
  const keys = users.map(({ key }) => key);
  const members = await transaction.getMany(keys, ['body']);
  transaction.hold(keys);
  return new Map(
    users.filter((_, index) => parseRoles(members[index]).length > 0).map(({ plan, issue }) => [plan, issue] as const),
  );
}

function memberKey({ record: { json, orgId } }: RecordPlan) {
  return instanceMemberKey(textAt(json, 'userId', orgId));
}
