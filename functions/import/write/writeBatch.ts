import { hashPassword } from '../../../shared/auth/password.ts';
import { createWrites, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import type { RecordWarning } from '../../../shared/organisation/warnings.ts';
import { type DocumentStore, documentPath, WriteConflictError } from '../../../shared/store/store.ts';
import type { ImportWarning } from '../contract.ts';
import type { Writing } from '../importRun.ts';
import type { RecordOutcome, Settled } from '../recordOutcome.ts';
import { isOfThisImport, nextStamp } from '../stamp.ts';
import { BatchComparison, readCompared } from './comparison.ts';
import { completeRecords } from './completeRecords.ts';
import { decideBatch, type UndecidedBatch } from './decision.ts';
import { GuardedStore, ReferenceChangedError } from './guardedStore.ts';
import { findPrivileges, type Privileges, writeWarnings } from './privileges.ts';
import { checkReferences, type Rejection } from './references.ts';
import { findLackedRoles, restoreGrantsInUse } from './rolesInUse.ts';

const CREATED: RecordOutcome = { kind: 'created' };
const UNCHANGED: RecordOutcome = { kind: 'unchanged' };

/**
 * Writes a batch and returns its outcomes in order. Records are created without reading first. If one of them exists,
 * the batch is decided record by record in a transaction. A record and its claims are written atomically. If a reference
 * changes meanwhile, the batch starts over.
 */
export async function writeBatch(writing: Writing, plans: readonly RecordPlan[]): Promise<Settled[]> {
  for (;;) {
    try {
      return await attemptBatch(writing, new GuardedStore(writing.store, writing.watch), plans);
    } catch (error) {
      if (!(error instanceof ReferenceChangedError)) throw error;
    }
  }
}

async function attemptBatch(writing: Writing, store: GuardedStore, given: readonly RecordPlan[]): Promise<Settled[]> {
  const warnings = new Map<RecordPlan, RecordWarning[]>();
  const warn = (plan: RecordPlan, warning: RecordWarning) => {
    const ofPlan = warnings.get(plan);
    if (ofPlan === undefined) warnings.set(plan, [warning]);
    else ofPlan.push(warning);
  };
  const unfit: [RecordPlan, RecordIssue][] = [];
  const reject = (plan: RecordPlan, issue: RecordIssue) => unfit.push([plan, issue]);
  const complete = await completeRecords(store, given, warn, reject);
  const plans = [...complete.values()];
  const [rejected, reserving] = await Promise.all([
    checkReferences(store, plans, warn, store.removals.orgIds),
    writing.reservedNames.check(plans),
  ]);
  const outcomes = new Map([...rejected, ...unfit].map(([plan, rejection]) => [plan, toOutcome(rejection)]));
  const undecided = () => plans.filter((plan) => !outcomes.has(plan));
  const comparison = new BatchComparison(writing.onConflict, writing.signal);
  const readsFirst = writing.expectExisting;
  const conflicting = readsFirst && (await findUnchanged(writing, undecided(), comparison, outcomes));
  const privileges = await findPrivileges(writing, undecided());
  const stamp = nextStamp(writing);
  const records = await withHashedPasswords(writing, undecided());
  const reserved = new Map(reserving);
  const mustDecide = conflicting || undecided().some((plan) => reserved.has(plan));
  const created = mustDecide ? undefined : await tryCreate(store, records, privileges, stamp);
  if (created === undefined && !readsFirst) await comparePasswords(writing, undecided(), comparison);
  const batch = { records, reserved, privileges, comparison };
  const decided = created ?? (await decideExisting(writing, store, batch, stamp));
  for (const [plan, outcome] of decided) outcomes.set(plan, outcome);
  const unchanged = plans.filter((plan) => outcomes.get(plan)?.kind === 'unchanged');
  for (const [plan, issue] of await findLackedRoles(writing, unchanged)) outcomes.set(plan, { kind: 'failed', issue });
  writing.expectExisting = plans.some((plan) => outcomes.get(plan)?.kind !== 'created');
  return [...complete].map(([plan, written]) => {
    const outcome = outcomes.get(written);
    if (outcome === undefined) throw new Error('a record of a written batch has no outcome');
    return { plan, outcome: withWarnings(outcome, warnings.get(written)) };
  });
}

async function decideExisting(
  writing: Writing,
  store: GuardedStore,
  batch: UndecidedBatch,
  stamp: string,
): Promise<ReadonlyMap<RecordPlan, RecordOutcome>> {
  const { outcomes, narrowed } = await decideBatch(writing, store, batch, stamp);
  for (const [plan, issue] of await restoreGrantsInUse(writing, narrowed, stamp))
    outcomes.set(plan, { kind: 'failed', issue });
  return outcomes;
}

function withWarnings(outcome: RecordOutcome, warnings: readonly RecordWarning[] | undefined): RecordOutcome {
  return warnings === undefined || outcome.kind === 'failed' ? outcome : { ...outcome, warnings };
}

function toOutcome(rejection: Rejection): RecordOutcome {
  return rejection === 'notCarried' ? { kind: rejection } : { kind: 'failed', issue: rejection };
}

/**
 * Creates all records in one commit.
 * @param records the undecided records, each with the record to write
 * @returns the outcome of every record; undefined if a record or one of its claims exists
 */
async function tryCreate(
  store: DocumentStore,
  records: ReadonlyMap<RecordPlan, RecordPlan>,
  privileges: Privileges,
  stamp: string,
): Promise<Map<RecordPlan, RecordOutcome> | undefined> {
  const plans = [...records.keys()];
  const writes = [...records.values()].flatMap((plan) => createWrites(plan, stamp));
  if (new Set(writes.map(({ key }) => documentPath(key))).size < writes.length) return undefined;
  const warnings = plans.map((plan) => writeWarnings(privileges, plan));
  try {
    await store.commit(writes);
  } catch (error) {
    if (error instanceof WriteConflictError) return undefined;
    throw error;
  }
  return new Map(plans.map((plan, index) => [plan, createdWith(warnings[index] ?? [])]));
}

function createdWith(writeWarnings: readonly ImportWarning[]): RecordOutcome {
  return writeWarnings.length === 0 ? CREATED : { kind: 'created', writeWarnings };
}

/** Finds the records that exist with equal content; returns whether any exists with other content. */
async function findUnchanged(
  writing: Writing,
  plans: readonly RecordPlan[],
  comparison: BatchComparison,
  outcomes: Map<RecordPlan, RecordOutcome>,
): Promise<boolean> {
  const stored = await readCompared(writing.store, plans, writing.onConflict);
  await comparison.prepare(
    writing.store,
    plans.map((plan, index) => [plan, stored[index]]),
  );
  for (const [index, plan] of plans.entries()) {
    const document = stored[index];
    if (document === undefined || isOfThisImport(writing, document)) continue;
    if (comparison.isEqual(plan, document)) outcomes.set(plan, UNCHANGED);
  }
  return plans.some((plan, index) => stored[index] !== undefined && !outcomes.has(plan));
}

/** Compares clear passwords before the transaction, which then compares again only those whose hash has changed. */
async function comparePasswords(
  { store, onConflict }: Writing,
  plans: readonly RecordPlan[],
  comparison: BatchComparison,
): Promise<void> {
  const withPassword = plans.filter(hasClearPassword);
  if (withPassword.length === 0) return;
  const stored = await readCompared(store, withPassword, onConflict);
  await comparison.prepare(
    store,
    withPassword.map((plan, index) => [plan, stored[index]]),
  );
}

async function withHashedPasswords(
  writing: Writing,
  plans: readonly RecordPlan[],
): Promise<Map<RecordPlan, RecordPlan>> {
  const hashed = new Map(plans.map((plan) => [plan, plan]));
  await Promise.all(
    plans.filter(hasClearPassword).map(async (plan) => hashed.set(plan, await withHashedPassword(writing, plan))),
  );
  return hashed;
}

function hasClearPassword({ record }: RecordPlan): boolean {
  return record.clearPassword !== undefined;
}

async function withHashedPassword({ passwordHashing, signal }: Writing, plan: RecordPlan): Promise<RecordPlan> {
  const { record } = plan;
  if (record.clearPassword === undefined) return plan;
  const passwordHash = await hashPassword(record.clearPassword, passwordHashing, signal);
  return { ...plan, record: { ...record, credentials: { ...record.credentials, passwordHash } } };
}
