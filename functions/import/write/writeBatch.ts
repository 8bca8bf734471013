import { hashPassword } from '../../../shared/auth/password.ts';
import { createWrites, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { documentPath, WriteConflictError } from '../../../shared/store/store.ts';
import type { Writing } from '../importRun.ts';
import { type IncomingRecord, isUndecided, type RecordOutcome, type Settled, toIncoming } from '../incomingRecord.ts';
import { isOfThisImport, nextStamp } from '../stamp.ts';
import { BatchComparison, readCompared } from './comparison.ts';
import { completeRecords } from './completeRecords.ts';
import { type Batch, decideBatch, planToStore, withWriteWarnings } from './decision.ts';
import { dropMissingRoles } from './missingRoles.ts';
import { findPrivileges, writeWarnings } from './privileges.ts';
import { checkReferences } from './references.ts';

const CREATED: RecordOutcome = { kind: 'created' };
const UNCHANGED: RecordOutcome = { kind: 'unchanged' };

/**
 * Writes a batch and returns its outcomes in order. Records are created without reading first. If one of them exists,
 * the batch is decided record by record in a transaction. A record and its claims are written atomically.
 */
export async function writeBatch(writing: Writing, plans: readonly RecordPlan[]): Promise<Settled[]> {
  const { store, removed } = writing;
  const records = plans.map(toIncoming);
  await completeRecords(store, records);
  await Promise.all([
    checkReferences(store, records.filter(isUndecided), removed),
    writing.reservedNames.check(records),
  ]);
  await checkReferences(store, await dropMissingRoles(store, records), removed);
  await writeUndecided(writing, records);
  writing.expectExisting = records.some(({ outcome }) => outcome?.kind !== 'created');
  return records.map(toSettled);
}

/** Decides and writes the records that can be written. */
async function writeUndecided(writing: Writing, all: readonly IncomingRecord[]): Promise<void> {
  const comparison = new BatchComparison(writing.onConflict, writing.signal);
  const readsFirst = writing.expectExisting;
  const conflicts = readsFirst && (await findUnchanged(writing, all.filter(isUndecided), comparison));
  const records = all.filter(isUndecided);
  await findPrivileges(writing, records);
  await hashPasswords(writing, records);
  const batch: Batch = { records, comparison, attempts: new Map() };
  const mustDecide = conflicts || records.some(({ reserved }) => reserved !== undefined);
  if (!mustDecide && (await tryCreate(writing, batch))) return;
  if (!readsFirst) await comparePasswords(writing, records, comparison);
  await decideBatch(writing, batch);
}

function toSettled({ plan, warnings, outcome }: IncomingRecord): Settled {
  if (outcome === undefined) throw new Error('a record of a written batch has no outcome');
  const isPlain = warnings.length === 0 || outcome.kind === 'failed';
  return { plan, outcome: isPlain ? outcome : { ...outcome, warnings } };
}

/**
 * Creates all records in one commit.
 * @returns whether they were created; otherwise a record or one of its claims exists
 */
async function tryCreate(writing: Writing, { records, attempts }: Batch): Promise<boolean> {
  const stamp = nextStamp(writing);
  const writes = records.flatMap((record) => createWrites(planToStore(record), stamp));
  if (new Set(writes.map(({ key }) => documentPath(key))).size < writes.length) return false;
  const outcomes = new Map(records.map((record) => [record, withWriteWarnings(CREATED, writeWarnings(record))]));
  attempts.set(stamp, outcomes);
  try {
    await writing.store.commit(writes);
  } catch (error) {
    if (error instanceof WriteConflictError) return false;
    throw error;
  }
  for (const [record, outcome] of outcomes) record.outcome = outcome;
  return true;
}

/** Finds the records that exist with equal content; returns whether any exists with other content. */
async function findUnchanged(
  writing: Writing,
  records: readonly IncomingRecord[],
  comparison: BatchComparison,
): Promise<boolean> {
  const plans = records.map(({ plan }) => plan);
  const stored = await readCompared(writing.store, plans, writing.onConflict);
  await comparison.prepare(
    writing.store,
    plans.map((plan, index) => [plan, stored[index]]),
  );
  for (const [index, record] of records.entries()) {
    const document = stored[index];
    if (document === undefined || isOfThisImport(writing, document)) continue;
    if (comparison.isEqual(record.plan, document)) record.outcome = UNCHANGED;
  }
  return records.some((record, index) => stored[index] !== undefined && isUndecided(record));
}

/** Compares clear passwords before the transaction, which then compares again only those whose hash has changed. */
async function comparePasswords(
  { store, onConflict }: Writing,
  records: readonly IncomingRecord[],
  comparison: BatchComparison,
): Promise<void> {
  const plans = records.filter(hasClearPassword).map(({ plan }) => plan);
  if (plans.length === 0) return;
  const stored = await readCompared(store, plans, onConflict);
  await comparison.prepare(
    store,
    plans.map((plan, index) => [plan, stored[index]]),
  );
}

async function hashPasswords({ passwordHashing, signal }: Writing, records: readonly IncomingRecord[]): Promise<void> {
  await Promise.all(
    records.filter(hasClearPassword).map(async (record) => {
      record.passwordHash = await hashPassword(record.plan.record.clearPassword ?? '', passwordHashing, signal);
    }),
  );
}

function hasClearPassword({ plan }: IncomingRecord): boolean {
  return plan.record.clearPassword !== undefined;
}
