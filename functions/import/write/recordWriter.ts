import { hashPassword } from '../../../shared/auth/password.ts';
import { createWrites, documentPath, type RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import {
  type DocumentStore,
  MAX_COMMIT_BYTES,
  type StoredDocument,
  WriteConflictError,
} from '../../../shared/store/store.ts';
import { type BatchContext, isOfThisImport, nextStamp, type Outcome } from './batchContext.ts';
import { comparedFields, hasSameContent, isEqual } from './comparison.ts';
import { decideBatch } from './decision.ts';
import { checkReferences, type Objection } from './references.ts';

const BATCH_RECORDS = 250;
/** Room for the fields beside the body and the credentials. */
const RECORD_OVERHEAD_BYTES = 1_500;
const BATCHES_IN_FLIGHT = 4;

/** A record to write, and where it stands in the document. */
export interface PlacedPlan {
  readonly organisation: number;
  /** Its place among the records of its phase. */
  readonly ordinal: number;
  readonly plan: RecordPlan;
}

/** Told of every record's outcome, in the document's order. */
export type OnOutcome = (placed: PlacedPlan, outcome: Outcome) => void;

/**
 * Writes records in batches, several at a time, and reports their outcomes in the order in which they were added. Holds
 * a few batches, however many records there are.
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

  /** Adds records; resolves when there is room for more. */
  async add(placed: readonly PlacedPlan[]): Promise<void> {
    for (const one of placed) {
      const bytes = storedBytes(one.plan.record);
      if (this.batch.length === BATCH_RECORDS || this.batchBytes + bytes > MAX_COMMIT_BYTES) await this.send();
      this.batch.push(one);
      this.batchBytes += bytes;
    }
  }

  /** Writes what is left and waits for all of it. */
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
    // A batch that fails is told when its turn comes; until then its rejection has an owner.
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

/** What a record weighs at most when it is stored: a character takes up to three bytes. */
function storedBytes({ body, credentials }: RecordPlan['record']): number {
  const texts = [body, ...Object.values(credentials)];
  return texts.reduce((characters, text) => characters + text.length, 0) * 3 + RECORD_OVERHEAD_BYTES;
}

const CREATED: Outcome = { kind: 'created' };
const UNCHANGED: Outcome = { kind: 'unchanged' };

/**
 * Writes records and tells what became of each, in their order. New records are created without reading first; where
 * one meets what is there already, the batch is decided record by record in a transaction. A record is written with all
 * its claims or not at all.
 */
async function writeBatch(context: BatchContext, plans: readonly RecordPlan[]): Promise<Outcome[]> {
  const [ruledOut, reserved] = await Promise.all([
    checkReferences(context.store, plans),
    context.reservedNames.check(plans),
  ]);
  const outcomes = new Map([...ruledOut, ...reserved].map(([plan, objection]) => [plan, toOutcome(objection)]));
  const open = () => plans.filter((plan) => !outcomes.has(plan));
  const meets = context.expectExisting && (await findUnchanged(context, open(), outcomes));
  const stamp = nextStamp(context);
  const hashed = await withHashedPasswords(open());
  if (meets || !(await tryCreate(context.store, [...hashed.values()], stamp)))
    for (const [plan, outcome] of await decideBatch(context, hashed, stamp)) outcomes.set(plan, outcome);
  const told = plans.map((plan) => outcomes.get(plan) ?? CREATED);
  context.expectExisting = told.some(({ kind }) => kind !== 'created');
  return told;
}

function toOutcome(objection: Objection): Outcome {
  return objection === 'notCarried' ? { kind: objection } : { kind: 'failed', issue: objection };
}

/** Creates all records in one commit; false when one of them, or one of their names, is there already. */
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

/** Finds the records that are there as they are; returns whether others of them are there with other content. */
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
  const present = plans.filter((_plan, index) => stored[index] !== undefined);
  for (const [index, plan] of plans.entries()) {
    const document = stored[index];
    if (document === undefined || isOfThisImport(context, document)) continue;
    // A promise for each record is dear in Cloud Functions, so only those that need one have it.
    if (plan.record.clearPassword !== undefined) compared.push(compare(plan, document));
    else if (hasSameContent(plan.record, document)) outcomes.set(plan, UNCHANGED);
  }
  await Promise.all(compared);
  return present.some((plan) => !outcomes.has(plan));
}

async function withHashedPasswords(plans: readonly RecordPlan[]): Promise<Map<RecordPlan, RecordPlan>> {
  const hashed = new Map(plans.map((plan) => [plan, plan]));
  const clear = plans.filter(({ record }) => record.clearPassword !== undefined);
  await Promise.all(clear.map(async (plan) => hashed.set(plan, await withHashedPassword(plan))));
  return hashed;
}

async function withHashedPassword(plan: RecordPlan): Promise<RecordPlan> {
  const { record } = plan;
  if (record.clearPassword === undefined) return plan;
  const credentials = { ...record.credentials, passwordHash: await hashPassword(record.clearPassword) };
  return { ...plan, record: { ...record, credentials } };
}
