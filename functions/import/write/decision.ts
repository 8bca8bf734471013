import { createRecord, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import { isList } from '../../../shared/organisation/section.ts';
import {
  type DocumentKey,
  type DocumentStore,
  documentPath,
  type StoredDocument,
  type Transaction,
  type Write,
} from '../../../shared/store/store.ts';
import type { ImportWarning, OnConflict } from '../contract.ts';
import type { Writing } from '../importRun.ts';
import { isWritten, type RecordOutcome, repetitionIssue } from '../recordOutcome.ts';
import { isOfThisImport } from '../stamp.ts';
import { ClaimLedger } from './claims.ts';
import {
  type BatchComparison,
  canOverwrite,
  comparedFields,
  heldClaims,
  isSameRecord,
  keepsReservedNames,
  needsBody,
  overwriteRecord,
  overwrittenFields,
} from './comparison.ts';
import { type Privileges, writeWarnings } from './privileges.ts';
import { findProtected } from './protectedRecords.ts';
import { findNarrowed, findRolesInUse, type NarrowedGrant } from './rolesInUse.ts';

/** The records of a batch that are not decided yet. */
export interface UndecidedBatch {
  readonly privileges: Privileges;
  /** The records to compare, each with the record to write, whose password is hashed. */
  readonly records: ReadonlyMap<RecordPlan, RecordPlan>;
  /** The records whose names another organisation reserves, each with its issue. */
  readonly reserved: ReadonlyMap<RecordPlan, RecordIssue>;
  readonly comparison: BatchComparison;
}

/** A batch, and the records that the import must not overwrite, each with its issue. */
interface ProtectedBatch extends UndecidedBatch {
  readonly protectedRecords: ReadonlyMap<RecordPlan, RecordIssue>;
}

/** The outcome of a record that is not written, or how it is written unless another record has claimed its name. */
type Decision = RecordOutcome | 'create' | 'overwrite';

/** A decided batch. */
interface DecidedBatch {
  readonly outcomes: Map<RecordPlan, RecordOutcome>;
  /** The overwritten project grants that have lost roles. */
  readonly narrowed: readonly NarrowedGrant[];
}

/**
 * Decides a batch record by record, in one transaction. A name that a record gives up is free for those after it.
 * @param store the store of the batch
 * @param stamp the creation and change date of the batch's records
 */
export async function decideBatch(
  writing: Writing,
  store: DocumentStore,
  batch: UndecidedBatch,
  stamp: string,
): Promise<DecidedBatch> {
  // Kept between the attempts: one whose commit's response was lost has overwritten what the next one reads.
  const warnings = new Map<RecordPlan, readonly ImportWarning[]>();
  const narrowed = new Map<RecordPlan, NarrowedGrant>();
  const outcomes = await store.transaction(async (transaction) => {
    const plans = [...batch.records.keys()];
    const documents = await readStored(transaction, plans, writing.onConflict);
    const findStored = (plan: RecordPlan) => documents.get(documentPath(plan.key));
    await batch.comparison.prepare(
      transaction,
      plans.map((plan) => [plan, findStored(plan)]),
    );
    const ledger = new ClaimLedger(documents);
    const grants = writing.onConflict === 'overwrite' ? findNarrowed(plans, documents) : [];
    for (const grant of grants) narrowed.set(grant.plan, grant);
    const inUse = await findRolesInUse(writing.base, grants);
    const protectedRecords = new Map([...findProtected(writing, documents, plans), ...inUse]);
    const protectedBatch = { ...batch, protectedRecords };
    const outcomes = new Map<RecordPlan, RecordOutcome>();
    const written = new Map<string, RecordPlan>();
    for (const plan of plans) {
      const stored = findStored(plan);
      const first = written.get(documentPath(plan.key));
      const decision =
        first === undefined
          ? decideRecord(writing, protectedBatch, plan, stored, stamp)
          : decideRepetition(plan, plan.record.digest === first.record.digest);
      const outcome = typeof decision === 'object' ? decision : claimNames(ledger, plan, stored, decision);
      outcomes.set(plan, outcome);
      if (isWritten(outcome)) written.set(documentPath(plan.key), plan);
      if (typeof decision === 'object' || !isWritten(outcome)) continue;
      transaction.write(toWrites(batch.records.get(plan) ?? plan, stored, decision, stamp));
      warnings.set(plan, writeWarnings(batch.privileges, plan, stored));
    }
    transaction.write(ledger.writes());
    return outcomes;
  });
  for (const [plan, outcome] of outcomes)
    outcomes.set(plan, withWriteWarnings(outcome, warnings.get(plan) ?? writeWarnings(batch.privileges, plan)));
  const isOverwritten = ({ plan }: NarrowedGrant) => outcomes.get(plan)?.kind === 'overwritten';
  return { outcomes, narrowed: [...narrowed.values()].filter(isOverwritten) };
}

/** Claims the names of a record to write; its outcome is an issue if another record has claimed one of them. */
function claimNames(
  ledger: ClaimLedger,
  plan: RecordPlan,
  stored: StoredDocument | undefined,
  write: 'create' | 'overwrite',
): RecordOutcome {
  const issue = ledger.claim(plan, heldClaims(plan, stored));
  if (issue !== undefined) return fail(issue);
  return { kind: write === 'create' ? 'created' : 'overwritten' };
}

function withWriteWarnings(outcome: RecordOutcome, warnings: readonly ImportWarning[]): RecordOutcome {
  return isWritten(outcome) && warnings.length > 0 ? { ...outcome, writeWarnings: warnings } : outcome;
}

/** Reads the documents stored under the records' keys and claims, by `documentPath`. */
async function readStored(
  transaction: Transaction,
  plans: readonly RecordPlan[],
  onConflict: OnConflict,
): Promise<Map<string, StoredDocument>> {
  const stored = new Map<string, StoredDocument>();
  const read = async (keys: readonly DocumentKey[], fields: Parameters<Transaction['getMany']>[1]) => {
    const documents = await transaction.getMany(keys, fields);
    for (const [index, key] of keys.entries()) {
      const document = documents[index];
      if (document !== undefined) stored.set(documentPath(key), document);
    }
  };
  const overwriting = onConflict === 'overwrite';
  const keys = plans.flatMap(({ key, claims }) => [key, ...claims.map((claim) => claim.key)]);
  await read(keys, [...comparedFields, 'ownerId', ...(overwriting ? overwrittenFields : [])]);
  if (!overwriting) {
    const undecided = plans.filter((plan) => needsBody(plan, stored.get(documentPath(plan.key)), onConflict));
    if (undecided.length > 0)
      await read(
        undecided.map(({ key }) => key),
        [...comparedFields, 'body'],
      );
    return stored;
  }
  const held = plans.flatMap((plan) => heldClaims(plan, stored.get(documentPath(plan.key))));
  const unread = held.filter((key) => !stored.has(documentPath(key)));
  if (unread.length > 0) await read(unread, ['orgId', 'ownerId']);
  return stored;
}

/**
 * Decides one record, without regard to its names.
 * @param ownStamp the date that an earlier attempt of this batch stored
 */
function decideRecord(
  writing: Writing,
  batch: ProtectedBatch,
  plan: RecordPlan,
  stored: StoredDocument | undefined,
  ownStamp: string,
): Decision {
  if (stored === undefined) {
    const issue = batch.reserved.get(plan);
    return issue === undefined ? 'create' : fail(issue);
  }
  const equal = batch.comparison.isEqual(plan, stored);
  if (equal && stored.createdAt === ownStamp) return { kind: 'created' };
  if (equal && stored.changedAt === ownStamp) return { kind: 'overwritten' };
  if (isOfThisImport(writing, stored)) return decideRepetition(plan, equal);
  if (equal) return { kind: 'unchanged' };
  // Under another organisation or section, a record is always reported.
  if (!isSameRecord(plan, stored) || writing.onConflict === 'report') return failExisting(plan);
  if (writing.onConflict === 'skip') return { kind: 'skipped' };
  return decideOverwriting(batch, plan, stored);
}

/** Decides a record that repeats a written one: entries of a file may repeat equal policies, but not records of lists. */
function decideRepetition({ record: { section } }: RecordPlan, isEqual: boolean): RecordOutcome {
  return isEqual && !isList(section) ? { kind: 'unchanged' } : fail(repetitionIssue(section));
}

function decideOverwriting(
  { reserved, protectedRecords }: ProtectedBatch,
  plan: RecordPlan,
  stored: StoredDocument,
): Decision {
  if (!canOverwrite(plan, stored)) return failExisting(plan);
  const issue = reserved.get(plan);
  if (issue !== undefined && !keepsReservedNames(plan, stored)) return fail(issue);
  const protecting = protectedRecords.get(plan);
  return protecting === undefined ? 'overwrite' : fail(protecting);
}

function failExisting({ record }: RecordPlan): RecordOutcome {
  return fail(record.section.error.exists);
}

function fail(issue: RecordIssue): RecordOutcome {
  return { kind: 'failed', issue };
}

function toWrites(
  plan: RecordPlan,
  stored: StoredDocument | undefined,
  write: 'create' | 'overwrite',
  stamp: string,
): Write[] {
  if (write === 'create') return [createRecord(plan, stamp)];
  return stored === undefined ? [] : [overwriteRecord(plan, stored, stamp)];
}
