// The decisions of a batch whose records meet existing ones.

import { because } from '../../../shared/errors/recordIssues.ts';
import { createRecord, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import { isList } from '../../../shared/organisation/section.ts';
import {
  type DocumentKey,
  documentPath,
  type StoredDocument,
  type Transaction,
  type Write,
} from '../../../shared/store/store.ts';
import type { ImportWarning, OnConflict } from '../contract.ts';
import type { Writing } from '../importRun.ts';
import { failed, type IncomingRecord, isWritten, type RecordOutcome, repetitionIssue } from '../incomingRecord.ts';
import { isOfThisImport, nextStamp } from '../stamp.ts';
import { ClaimLedger } from './claims.ts';
import { type BatchComparison, comparedFields, isSameRecord, needsBody } from './comparison.ts';
import { canOverwrite, heldClaims, keepsReservedNames, overwriteRecord, overwrittenFields } from './overwrite.ts';
import { writeWarnings } from './privileges.ts';
import { findProtected } from './protectedRecords.ts';
import { findNarrowed, findRolesInUse } from './rolesInUse.ts';

/** The outcomes of a batch's records. */
type Outcomes = ReadonlyMap<IncomingRecord, RecordOutcome>;

/** Records that are written together. */
export interface Batch {
  readonly records: readonly IncomingRecord[];
  readonly comparison: BatchComparison;
  /**
   * The attempts to write the batch, by the creation and change date of their records. If a commit's response was lost, the
   * next attempt reads its records: a new decision could differ, because the names that they gave up are free.
   */
  readonly attempts: Map<string, Outcomes>;
}

/** The outcome of a record that is not written, or how it is written unless another record has claimed its name. */
type Decision = RecordOutcome | 'create' | 'overwrite';

/**
 * Decides and writes a batch record by record, in one transaction. A name that a record gives up is free for those after
 * it.
 */
export async function decideBatch(writing: Writing, batch: Batch): Promise<void> {
  const { records, attempts } = batch;
  const plans = records.map(({ plan }) => plan);
  const stamp = await writing.store.transaction(async (transaction) => {
    const documents = await readStored(transaction, plans, writing.onConflict);
    const committed = findCommitted(batch, documents);
    if (committed !== undefined) return committed;
    const changed = writing.since === undefined ? new Set<string>() : transaction.changedAfter(writing.since);
    const grants = writing.onConflict === 'overwrite' ? findNarrowed(records, documents) : [];
    const inUse = await findRolesInUse(writing.base, grants);
    const changedRecords = records.filter(({ plan }) => changed.has(documentPath(plan.key)));
    const protectedRecords = new Map([
      ...findProtected(writing, documents, records),
      ...inUse,
      ...changedRecords.map((record) => [record, changedMeanwhile(record.plan)] as const),
    ]);
    const next = nextStamp(writing);
    attempts.set(next, await decideRecords(writing, batch, { transaction, documents, protectedRecords, stamp: next }));
    return next;
  });
  for (const [record, outcome] of attempts.get(stamp) ?? []) record.outcome = outcome;
}

/** Returns the stamp of the attempt that wrote one of the stored records, whose response was lost. */
function findCommitted({ records, attempts }: Batch, documents: ReadonlyMap<string, StoredDocument>) {
  const stamps = records.flatMap(({ plan }) => {
    const { createdAt = '', changedAt = '' } = documents.get(documentPath(plan.key)) ?? {};
    return [createdAt, changedAt];
  });
  return stamps.find((stamp) => attempts.has(stamp));
}

interface Attempt {
  readonly transaction: Transaction;
  /** The stored records and claims, by `documentPath`. */
  readonly documents: ReadonlyMap<string, StoredDocument>;
  /** The records that must not be overwritten, each with its issue. */
  readonly protectedRecords: ReadonlyMap<IncomingRecord, RecordIssue>;
  readonly stamp: string;
}

async function decideRecords(
  writing: Writing,
  { records, comparison }: Batch,
  { transaction, documents, protectedRecords, stamp }: Attempt,
): Promise<Outcomes> {
  const findStored = ({ key }: RecordPlan) => documents.get(documentPath(key));
  await comparison.prepare(
    transaction,
    records.map(({ plan }) => [plan, findStored(plan)]),
  );
  const ledger = new ClaimLedger(documents);
  const outcomes = new Map<IncomingRecord, RecordOutcome>();
  const written = new Map<string, RecordPlan>();
  for (const record of records) {
    const { plan } = record;
    const stored = findStored(plan);
    const first = written.get(documentPath(plan.key));
    const decision =
      first === undefined
        ? decideRecord(writing, comparison, record, stored, protectedRecords.get(record))
        : decideRepetition(plan, plan.record.digest === first.record.digest);
    const outcome = typeof decision === 'object' ? decision : claimNames(ledger, plan, stored, decision);
    outcomes.set(record, outcome);
    if (typeof decision === 'object' || !isWritten(outcome)) continue;
    outcomes.set(record, withWriteWarnings(outcome, writeWarnings(record, stored)));
    written.set(documentPath(plan.key), plan);
    transaction.write(toWrites(planToStore(record), stored, decision, stamp));
  }
  transaction.write(ledger.writes());
  return outcomes;
}

/** Returns the record to store, whose password is hashed. */
export function planToStore({ plan, passwordHash }: IncomingRecord): RecordPlan {
  if (passwordHash === undefined) return plan;
  const { record } = plan;
  return { ...plan, record: { ...record, credentials: { ...record.credentials, passwordHash } } };
}

/** Claims the names of a record to write; its outcome is an issue if another record has claimed one of them. */
function claimNames(
  ledger: ClaimLedger,
  plan: RecordPlan,
  stored: StoredDocument | undefined,
  write: 'create' | 'overwrite',
): RecordOutcome {
  const issue = ledger.claim(plan, heldClaims(plan, stored));
  if (issue !== undefined) return failed(issue);
  return { kind: write === 'create' ? 'created' : 'overwritten' };
}

/** Adds the warnings about a written record to its outcome. */
export function withWriteWarnings(outcome: RecordOutcome, warnings: readonly ImportWarning[]): RecordOutcome {
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
 * @param protection the issue of a record that must not be overwritten
 */
function decideRecord(
  writing: Writing,
  comparison: BatchComparison,
  { plan, reserved }: IncomingRecord,
  stored: StoredDocument | undefined,
  protection: RecordIssue | undefined,
): Decision {
  if (stored === undefined) return reserved === undefined ? 'create' : failed(reserved);
  const equal = comparison.isEqual(plan, stored);
  if (isOfThisImport(writing, stored)) return decideRepetition(plan, equal);
  if (equal) return { kind: 'unchanged' };
  const existing = failed(plan.record.section.error.exists);
  // Under another organisation or section, a record is always reported.
  if (!isSameRecord(plan, stored) || writing.onConflict === 'report') return existing;
  if (writing.onConflict === 'skip') return { kind: 'skipped' };
  if (!canOverwrite(plan, stored)) return existing;
  if (reserved !== undefined && !keepsReservedNames(plan, stored)) return failed(reserved);
  return protection === undefined ? 'overwrite' : failed(protection);
}

/** The issue of a record that a call without the lock has changed: to undo a lock or a removal is not for this import. */
function changedMeanwhile({ record }: RecordPlan): RecordIssue {
  return { ...record.section.error.exists, ...because('changed_meanwhile', {}) };
}

/** Decides a record that repeats a written one: entries of a file may repeat equal policies, but not records of lists. */
function decideRepetition({ record: { section } }: RecordPlan, isEqual: boolean): RecordOutcome {
  return isEqual && !isList(section) ? { kind: 'unchanged' } : failed(repetitionIssue(section));
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
