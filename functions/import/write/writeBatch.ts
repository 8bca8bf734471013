import { hashPassword } from '../../../shared/auth/password.ts';
import { createWrites, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import type { RecordIssue } from '../../../shared/organisation/relations.ts';
import type { RecordWarning } from '../../../shared/organisation/warnings.ts';
import { documentPath, WriteConflictError } from '../../../shared/store/store.ts';
import type { ImportWarning } from '../contract.ts';
import type { DecidedPlan, Outcome, PlacedPlan } from '../outcome.ts';
import { type BatchContext, isOfThisImport, nextStamp } from './batchContext.ts';
import { fillFields } from './claimedNames.ts';
import { BatchComparison, readCompared } from './comparison.ts';
import { decideBatch, type UndecidedBatch } from './decision.ts';
import { GuardedStore, ReferenceChangedError } from './guardedStore.ts';
import { findPrivileges, type Privileges, writeWarnings } from './privileges.ts';
import { checkReferences, type Rejection } from './references.ts';
import { findLackedRoles, restoreGrantsInUse } from './rolesInUse.ts';

const CREATED: Outcome = { kind: 'created' };
const UNCHANGED: Outcome = { kind: 'unchanged' };

/**
 * Writes a batch and returns its outcomes in order. Records are created without reading first. If one of them exists,
 * the batch is decided record by record in a transaction. A record and its claims are written atomically. If a reference
 * changes meanwhile, the batch starts over.
 */
export async function writeBatch(context: BatchContext, plans: readonly PlacedPlan[]): Promise<DecidedPlan[]> {
  for (;;) {
    try {
      return await attemptBatch(context, new GuardedStore(context.store, context.watch), plans);
    } catch (error) {
      if (!(error instanceof ReferenceChangedError)) throw error;
    }
  }
}

async function attemptBatch(
  context: BatchContext,
  store: GuardedStore,
  incomplete: readonly PlacedPlan[],
): Promise<DecidedPlan[]> {
  const warnings = new Map<RecordPlan, RecordWarning[]>();
  const warn = (plan: RecordPlan, warning: RecordWarning) => {
    const ofPlan = warnings.get(plan);
    if (ofPlan === undefined) warnings.set(plan, [warning]);
    else ofPlan.push(warning);
  };
  const unfit: [RecordPlan, RecordIssue][] = [];
  const reject = (plan: RecordPlan, issue: RecordIssue) => unfit.push([plan, issue]);
  const filled = await fillFields(store, incomplete, { warn, reject });
  const plans = [...filled.values()];
  const [rejected, reserving] = await Promise.all([
    checkReferences(store, plans, warn, store.removals.orgIds),
    context.reservedNames.check(plans),
  ]);
  const outcomes = new Map([...rejected, ...unfit].map(([plan, rejection]) => [plan, toOutcome(rejection)]));
  const undecided = () => plans.filter((plan) => !outcomes.has(plan));
  const comparison = new BatchComparison(context.onConflict, context.signal);
  const readsFirst = context.expectExisting;
  const conflicting = readsFirst && (await findUnchanged(context, undecided(), comparison, outcomes));
  const privileges = await findPrivileges(context, undecided());
  const stamp = nextStamp(context);
  const records = await withHashedPasswords(context, undecided());
  const reserved = new Map(reserving);
  const mustDecide = conflicting || undecided().some((plan) => reserved.has(plan));
  const created = mustDecide ? undefined : await tryCreate({ ...context, store }, records, privileges, stamp);
  if (created === undefined && !readsFirst) await comparePasswords(context, undecided(), comparison);
  const batch = { records, reserved, privileges, comparison };
  const decided = created ?? (await decideExisting(context, store, batch, stamp));
  for (const [plan, outcome] of decided) outcomes.set(plan, outcome);
  const unchanged = plans.filter((plan) => outcomes.get(plan)?.kind === 'unchanged');
  for (const [plan, issue] of await findLackedRoles(context, unchanged)) outcomes.set(plan, { kind: 'failed', issue });
  context.expectExisting = plans.some((plan) => outcomes.get(plan)?.kind !== 'created');
  return [...filled].map(([plan, written]) => {
    const outcome = outcomes.get(written);
    if (outcome === undefined) throw new Error('a record of a written batch has no outcome');
    return { plan, outcome: withWarnings(outcome, warnings.get(written)) };
  });
}

async function decideExisting(
  context: BatchContext,
  store: GuardedStore,
  batch: UndecidedBatch,
  stamp: string,
): Promise<ReadonlyMap<RecordPlan, Outcome>> {
  const { outcomes, narrowed } = await decideBatch({ ...context, store }, batch, stamp);
  for (const [plan, issue] of await restoreGrantsInUse(context, narrowed, stamp))
    outcomes.set(plan, { kind: 'failed', issue });
  return outcomes;
}

function withWarnings(outcome: Outcome, warnings: readonly RecordWarning[] | undefined): Outcome {
  return warnings === undefined || outcome.kind === 'failed' ? outcome : { ...outcome, warnings };
}

function toOutcome(rejection: Rejection): Outcome {
  return rejection === 'notCarried' ? { kind: rejection } : { kind: 'failed', issue: rejection };
}

/**
 * Creates all records in one commit.
 * @param records the undecided records, each with the record to write
 * @returns the outcome of every record; undefined if a record or one of its claims exists
 */
async function tryCreate(
  { store }: BatchContext,
  records: ReadonlyMap<RecordPlan, RecordPlan>,
  privileges: Privileges,
  stamp: string,
): Promise<Map<RecordPlan, Outcome> | undefined> {
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

function createdWith(writeWarnings: readonly ImportWarning[]): Outcome {
  return writeWarnings.length === 0 ? CREATED : { kind: 'created', writeWarnings };
}

/** Finds the records that exist with equal content; returns whether any exists with other content. */
async function findUnchanged(
  context: BatchContext,
  plans: readonly RecordPlan[],
  comparison: BatchComparison,
  outcomes: Map<RecordPlan, Outcome>,
): Promise<boolean> {
  const stored = await readCompared(context.store, plans, context.onConflict);
  await comparison.prepare(
    context.store,
    plans.map((plan, index) => [plan, stored[index]]),
  );
  for (const [index, plan] of plans.entries()) {
    const document = stored[index];
    if (document === undefined || isOfThisImport(context, document)) continue;
    if (comparison.isEqual(plan, document)) outcomes.set(plan, UNCHANGED);
  }
  return plans.some((plan, index) => stored[index] !== undefined && !outcomes.has(plan));
}

/** Compares clear passwords before the transaction, which then compares again only those whose hash has changed. */
async function comparePasswords(
  { store, onConflict }: BatchContext,
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
  context: BatchContext,
  plans: readonly RecordPlan[],
): Promise<Map<RecordPlan, RecordPlan>> {
  const hashed = new Map(plans.map((plan) => [plan, plan]));
  await Promise.all(
    plans.filter(hasClearPassword).map(async (plan) => hashed.set(plan, await withHashedPassword(context, plan))),
  );
  return hashed;
}

function hasClearPassword({ record }: RecordPlan): boolean {
  return record.clearPassword !== undefined;
}

async function withHashedPassword({ passwordHashing, signal }: BatchContext, plan: RecordPlan): Promise<RecordPlan> {
  const { record } = plan;
  if (record.clearPassword === undefined) return plan;
  const passwordHash = await hashPassword(record.clearPassword, passwordHashing, signal);
  return { ...plan, record: { ...record, credentials: { ...record.credentials, passwordHash } } };
}
