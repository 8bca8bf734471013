import { hashPassword } from '../../../shared/auth/password.ts';
import { createWrites, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import {
  type DocumentStore,
  documentPath,
  MAX_COMMIT_BYTES,
  type StoredDocument,
  WriteConflictError,
} from '../../../shared/store/store.ts';
import { type BatchContext, isOfThisImport, nextStamp, type Outcome } from './batchContext.ts';
import { comparedFields, hasSameContent, isEqual } from './comparison.ts';
import { decideBatch } from './decision.ts';
import { GuardedStore, ReferenceDeletedError } from './guardedStore.ts';
import { checkReferences, type Rejection } from './references.ts';

const BATCH_RECORDS = 250;
/** The size allowance for fields other than the body and the credentials. */
const RECORD_OVERHEAD_BYTES = 1_500;
const BATCHES_IN_FLIGHT = 4;

/** A record to write, and its position in the file. */
export interface PlacedPlan {
  readonly organisation: number;
  /** The record's position among the records of its phase. */
  readonly ordinal: number;
  readonly plan: RecordPlan;
}

/** A listener for every record's outcome, in the file's order. */
export type OnOutcome = (placed: PlacedPlan, outcome: Outcome) => void;

/**
 * A writer that commits records in batches, several in flight, and reports outcomes in the order of the records. Memory
 * is bounded by the batches in flight.
 */
export class RecordWriter {
  private readonly context: BatchContext;
  private readonly onOutcome: OnOutcome;
  private readonly inFlight: Promise<{ batch: readonly PlacedPlan[]; outcomes: readonly Outcome[] }>[] = [];
  private batch: PlacedPlan[] = [];
  private batchBytes = 0;

  constructor(context: BatchContext, onOutcome: OnOutcome) {
    this.context = context;
    this.onOutcome = onOutcome;
  }

  /** Adds records; resolves when more can be added, which applies backpressure. */
  async add(placed: readonly PlacedPlan[]): Promise<void> {
    for (const placedPlan of placed) {
      const bytes = maxStoredBytes(placedPlan.plan.record);
      if (this.batch.length === BATCH_RECORDS || this.batchBytes + bytes > MAX_COMMIT_BYTES) await this.send();
      this.batch.push(placedPlan);
      this.batchBytes += bytes;
    }
  }

  /** Writes the remaining records and waits for all batches in flight. */
  async finish(): Promise<void> {
    await this.send();
    while (this.inFlight.length > 0) await this.settleFirst();
  }

  private async send(): Promise<void> {
    const batch = this.batch;
    if (batch.length === 0) return;
    this.batch = [];
    this.batchBytes = 0;
    const plans = batch.map(({ plan }) => plan);
    const writing = writeBatch(this.context, plans).then((outcomes) => ({ batch, outcomes }));
    // A failed batch is reported in its turn; until then this handler prevents an unhandled rejection.
    writing.catch(() => undefined);
    this.inFlight.push(writing);
    if (this.inFlight.length >= BATCHES_IN_FLIGHT) await this.settleFirst();
  }

  private async settleFirst(): Promise<void> {
    const first = await this.inFlight.shift();
    first?.batch.forEach((placed, index) => {
      const outcome = first.outcomes[index];
      if (outcome !== undefined) this.onOutcome(placed, outcome);
    });
  }
}

/** Returns the upper bound of a record's stored size: a UTF-16 code unit takes up to three bytes. */
function maxStoredBytes({ body, credentials }: RecordPlan['record']): number {
  const texts = [body, ...Object.values(credentials)];
  return texts.reduce((characters, text) => characters + text.length, 0) * 3 + RECORD_OVERHEAD_BYTES;
}

const CREATED: Outcome = { kind: 'created' };
const UNCHANGED: Outcome = { kind: 'unchanged' };

/**
 * Writes a batch and returns its outcomes in order. Records are created without reading first. If one of them exists,
 * the batch is decided record by record in a transaction. A record and its claims are written atomically. If a referenced
 * service user is deleted meanwhile, the batch starts over.
 */
async function writeBatch(context: BatchContext, plans: readonly RecordPlan[]): Promise<Outcome[]> {
  for (;;) {
    try {
      return await attemptBatch(context, new GuardedStore(context.store), plans);
    } catch (error) {
      if (!(error instanceof ReferenceDeletedError)) throw error;
    }
  }
}

async function attemptBatch(
  context: BatchContext,
  store: DocumentStore,
  plans: readonly RecordPlan[],
): Promise<Outcome[]> {
  const [rejected, reserved] = await Promise.all([checkReferences(store, plans), context.reservedNames.check(plans)]);
  const outcomes = new Map([...rejected, ...reserved].map(([plan, rejection]) => [plan, toOutcome(rejection)]));
  const undecided = () => plans.filter((plan) => !outcomes.has(plan));
  const conflicting = context.expectExisting && (await findUnchanged(context, undecided(), outcomes));
  const stamp = nextStamp(context);
  const hashed = await withHashedPasswords(undecided());
  if (conflicting || !(await tryCreate(store, [...hashed.values()], stamp)))
    for (const [plan, outcome] of await decideBatch({ ...context, store }, hashed, stamp)) outcomes.set(plan, outcome);
  const results = plans.map((plan) => outcomes.get(plan) ?? CREATED);
  context.expectExisting = results.some(({ kind }) => kind !== 'created');
  return results;
}

function toOutcome(rejection: Rejection): Outcome {
  return rejection === 'notCarried' ? { kind: rejection } : { kind: 'failed', issue: rejection };
}

/** Creates all records in one commit; returns false if a record or one of its claims exists. */
async function tryCreate(store: DocumentStore, plans: readonly RecordPlan[], stamp: string): Promise<boolean> {
  const writes = plans.flatMap((plan) => createWrites(plan, stamp));
  if (new Set(writes.map(({ key }) => documentPath(key))).size < writes.length) return false;
  try {
    await store.commit(writes);
    return true;
  } catch (error) {
    if (error instanceof WriteConflictError) return false;
    throw error;
  }
}

/** Finds the records that exist with equal content; returns whether any exists with other content. */
async function findUnchanged(
  context: BatchContext,
  plans: readonly RecordPlan[],
  outcomes: Map<RecordPlan, Outcome>,
): Promise<boolean> {
  const stored = await context.store.getMany(
    plans.map(({ key }) => key),
    comparedFields,
  );
  const compare = async (plan: RecordPlan, document: StoredDocument) => {
    if (await isEqual(plan.record, document)) outcomes.set(plan, UNCHANGED);
  };
  const compared: Promise<void>[] = [];
  const existing = plans.filter((_plan, index) => stored[index] !== undefined);
  for (const [index, plan] of plans.entries()) {
    const document = stored[index];
    if (document === undefined || isOfThisImport(context, document)) continue;
    // Promises are expensive here: create one only where it is needed.
    if (plan.record.clearPassword !== undefined) compared.push(compare(plan, document));
    else if (hasSameContent(plan.record, document)) outcomes.set(plan, UNCHANGED);
  }
  await Promise.all(compared);
  return existing.some((plan) => !outcomes.has(plan));
}

async function withHashedPasswords(plans: readonly RecordPlan[]): Promise<Map<RecordPlan, RecordPlan>> {
  const hashed = new Map(plans.map((plan) => [plan, plan]));
  const withPassword = plans.filter(({ record }) => record.clearPassword !== undefined);
  await Promise.all(withPassword.map(async (plan) => hashed.set(plan, await withHashedPassword(plan))));
  return hashed;
}

async function withHashedPassword(plan: RecordPlan): Promise<RecordPlan> {
  const { record } = plan;
  if (record.clearPassword === undefined) return plan;
  const credentials = { ...record.credentials, passwordHash: await hashPassword(record.clearPassword) };
  return { ...plan, record: { ...record, credentials } };
}
