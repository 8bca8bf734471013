import { holdMemberOrganisations } from '../../../shared/accounts/members.ts';
import { instanceMemberKey, parseRoles } from '../../../shared/auth/authorise.ts';
import { textAt } from '../../../shared/json/jsonObject.ts';
import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import type { KeptState } from '../../../shared/organisation/section.ts';
import { organisationSection } from '../../../shared/organisation/sections.ts';
import { documentPath, type StoredDocument, type Transaction } from '../../../shared/store/store.ts';
import type { BatchContext } from './batchContext.ts';
import { isSameRecord, stateChange } from './comparison.ts';

/** A record that would change a state, and the issues if it is one to keep. */
interface Change {
  readonly plan: RecordPlan;
  readonly keepsState: KeptState;
}

/**
 * Finds the records whose overwriting would change the state of the caller or of a user with a role of the instance, or
 * that of their organisations. The roles that it reads must not change before the commit.
 * @param documents the stored records, by `documentPath`
 * @returns the records, each with its issue
 */
export async function findProtected(
  context: BatchContext,
  transaction: Transaction,
  documents: ReadonlyMap<string, StoredDocument>,
  plans: readonly RecordPlan[],
): Promise<Map<RecordPlan, RecordIssue>> {
  const found = new Map<RecordPlan, RecordIssue>();
  if (context.onConflict !== 'overwrite') return found;
  const changes = plans.flatMap((plan) => toChange(plan, documents.get(documentPath(plan.key))));
  const members = await findInstanceMembers(context, transaction, changes);
  for (const { plan, keepsState } of changes) {
    if (context.callerPaths?.has(documentPath(plan.key)) === true) found.set(plan, keepsState.ofCaller);
    else if (members.has(plan)) found.set(plan, keepsState.ofInstanceMember);
  }
  return found;
}

function toChange(plan: RecordPlan, stored: StoredDocument | undefined): Change[] {
  const { keepsState } = plan.record.section.overwrite ?? {};
  if (keepsState === undefined || stored === undefined || !isSameRecord(plan, stored)) return [];
  return stateChange(plan, stored) === undefined ? [] : [{ plan, keepsState }];
}

/** Finds the records of users with a role of the instance, and of organisations that have such a user. */
async function findInstanceMembers(
  { base }: BatchContext,
  transaction: Transaction,
  changes: readonly Change[],
): Promise<ReadonlySet<RecordPlan>> {
  if (changes.length === 0) return new Set();
  const isOrganisation = ({ record }: RecordPlan) => record.section === organisationSection;
  const plans = changes.map(({ plan }) => plan);
  const [organisations, users] = [plans.filter(isOrganisation), plans.filter((plan) => !isOrganisation(plan))];
  const keys = users.map(({ record: { json, orgId } }) => instanceMemberKey(textAt(json, 'userId', orgId)));
  const members = await transaction.getMany(keys, ['body']);
  transaction.hold(keys);
  const paths = organisations.length === 0 ? new Set() : await holdMemberOrganisations(base, transaction);
  return new Set([
    ...users.filter((_, index) => parseRoles(members[index]).length > 0),
    ...organisations.filter(({ key }) => paths.has(documentPath(key))),
  ]);
}
