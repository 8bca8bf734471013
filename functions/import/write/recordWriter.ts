import { type DocumentStore, documentPath, MAX_COMMIT_BYTES } from '../../../shared/store/store.ts';
import { yieldToEventLoop } from '../../../shared/turns.ts';
import type { DecidedPlan, PlacedPlan } from '../outcome.ts';
import type { BatchContext } from './batchContext.ts';
import { writeBatch } from './writeBatch.ts';

const BATCH_RECORDS = 250;
/** A password takes a quarter of a second of a core: small batches are stored soon, and an interruption loses little. */
const BATCH_PASSWORDS = 24;
/** The size allowance for fields other than the body and the credentials. */
const RECORD_OVERHEAD_BYTES = 1_500;
/** Commits take turns where the database does not say how many it takes at once. */
const MIN_BATCHES_IN_FLIGHT = 4;
/** Bounds the memory of the batches in flight. */
const MAX_BYTES_IN_FLIGHT = 4 * MAX_COMMIT_BYTES;
/** Bounds the memory of records that wait for a name: some 10,000 users. Further ones fail without another attempt. */
const MAX_WAITING_BYTES = 32_000_000;

/**
 * A listener for the outcomes: in the file's order, then those of records that waited for a name. A record that the
 * signal leaves undecided has none.
 */
type OutcomeListener = (decided: DecidedPlan) => void;

interface BatchInFlight {
  /** Resolves with all records of the batch, or with none if the signal stopped it. */
  readonly writing: Promise<readonly DecidedPlan[]>;
  readonly bytes: number;
}

/**
 * A writer that commits records in batches, several in flight, and reports outcomes in the order of the records. Memory
 * is bounded by the batches in flight, and by the records that wait for a name. Disposing of the writer waits for the
 * batches in flight, so that nothing is written after an error.
 */
export class RecordWriter implements AsyncDisposable {
  private readonly context: BatchContext;
  private readonly settled: OutcomeListener;
  private readonly inFlight: BatchInFlight[] = [];
  private bytesInFlight = 0;
  private batch: PlacedPlan[] = [];
  private batchBytes = 0;
  private batchPasswords = 0;
  private waiting: DecidedPlan[] = [];
  private waitingBytes = 0;

  constructor(context: BatchContext, settled: OutcomeListener) {
    this.context = context;
    this.settled = settled;
  }

  /** Adds records; resolves when more can be added, which applies backpressure. */
  async add(plans: readonly PlacedPlan[]): Promise<void> {
    for (const plan of plans) {
      const bytes = maxStoredBytes(plan);
      if (this.isBatchFull || this.batchBytes + bytes > MAX_COMMIT_BYTES) await this.send();
      this.batch.push(plan);
      this.batchBytes += bytes;
      if (plan.record.clearPassword !== undefined) this.batchPasswords++;
    }
  }

  /** Writes the remaining records, waits for all batches in flight, and retries the records that wait for a name. */
  async finish(): Promise<void> {
    await this.send();
    while (this.inFlight.length > 0) await this.settleFirst();
    while (!this.isStopped && (await this.retryWaiting()));
    // Records that an abort leaves waiting are neither imported nor failed: the resumed import decides them.
    if (!this.isStopped) for (const decided of this.waiting) this.settled(decided);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.inFlight.map(({ writing }) => writing));
  }

  private get isStopped(): boolean {
    return this.context.signal.aborted;
  }

  private get isBatchFull(): boolean {
    const most = this.context.pace?.recordsPerCommit?.() ?? BATCH_RECORDS;
    return this.batch.length >= most || this.batchPasswords === BATCH_PASSWORDS;
  }

  private async send(): Promise<void> {
    const { batch, batchBytes: bytes } = this;
    if (batch.length === 0) return;
    this.batch = [];
    this.batchBytes = 0;
    this.batchPasswords = 0;
    const writing = this.write(batch);
    // A failed batch is reported in its turn; until then this handler prevents an unhandled rejection.
    writing.catch(() => undefined);
    this.inFlight.push({ writing, bytes });
    this.bytesInFlight += bytes;
    while (this.isFull) await this.settleFirst();
  }

  private get isFull(): boolean {
    const most = Math.max(MIN_BATCHES_IN_FLIGHT, this.context.pace?.commitsInFlight?.() ?? 0);
    return this.inFlight.length >= most || this.bytesInFlight + MAX_COMMIT_BYTES > MAX_BYTES_IN_FLIGHT;
  }

  private async write(batch: readonly PlacedPlan[]): Promise<readonly DecidedPlan[]> {
    const decided = await this.decide(batch);
    // The embedded database is synchronous: without this yield no timer fires, not even the timeout.
    await yieldToEventLoop();
    return decided;
  }

  /** Writes a batch, and returns nothing if the signal stopped it: the resumed import decides its records. */
  private async decide(batch: readonly PlacedPlan[]): Promise<readonly DecidedPlan[]> {
    try {
      return await writeBatch(this.context, batch);
    } catch (error) {
      if (this.isStopped && error === this.context.signal.reason) return [];
      throw error;
    }
  }

  private async settleFirst(): Promise<void> {
    const first = this.inFlight[0];
    if (first === undefined) return;
    const decided = await first.writing;
    this.inFlight.shift();
    this.bytesInFlight -= first.bytes;
    for (const one of decided) if (!this.defer(one)) this.settled(one);
  }

  /** Lets a record wait if it may get its name later: only overwritten records give up names. */
  private defer(decided: DecidedPlan): boolean {
    if (this.context.onConflict !== 'overwrite' || !isNameTaken(decided)) return false;
    const bytes = this.waitingBytes + maxStoredBytes(decided.plan);
    if (bytes > MAX_WAITING_BYTES) return false;
    this.waiting.push(decided);
    this.waitingBytes = bytes;
    return true;
  }

  /** Tries the waiting records again, batch by batch; returns whether any of them is settled. */
  private async retryWaiting(): Promise<boolean> {
    const groups = await orderByHolders(this.context.store, this.waiting);
    const settled = new Set<PlacedPlan>();
    for (const batch of packed(groups)) {
      if (this.isStopped) break;
      for (const decided of await this.write(batch.map(({ plan }) => plan))) {
        if (isNameTaken(decided)) continue;
        this.settled(decided);
        settled.add(decided.plan);
      }
    }
    this.waiting = this.waiting.filter(({ plan }) => !settled.has(plan));
    return settled.size > 0;
  }
}

/** Packs groups into batches. A group larger than a batch is not divided, as long as it fits in a commit. */
function* packed(groups: readonly DecidedPlan[][]): Generator<DecidedPlan[]> {
  let batch: DecidedPlan[] = [];
  let bytes = 0;
  for (const group of groups) {
    const size = group.reduce((sum, { plan }) => sum + maxStoredBytes(plan), 0);
    if (size > MAX_COMMIT_BYTES) continue;
    if (batch.length > 0 && (batch.length + group.length > BATCH_RECORDS || bytes + size > MAX_COMMIT_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(...group);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** Returns the upper bound of a record's stored size: a UTF-16 code unit takes up to three bytes, or four as base64. */
function maxStoredBytes({ record }: PlacedPlan): number {
  const credentials = Object.values(record.credentials).reduce((characters, text) => characters + text.length, 0);
  return record.body.length * 3 + credentials * 4 + RECORD_OVERHEAD_BYTES;
}

/** Whether a record failed only because another one holds its name. */
function isNameTaken({ plan, outcome }: DecidedPlan): boolean {
  return outcome.kind === 'failed' && plan.claims.some(({ taken }) => taken === outcome.issue);
}

/** What is in the way of a record: a waiting one that holds its name, or a record that does not wait for another name. */
type Obstacle = DecidedPlan | 'settled';

/**
 * Returns the waiting records that can have their names, each after the one that holds its name. Those that wait for each
 * other in a circle form a group, which must be written in one commit. Records are left out if a settled one holds their
 * name, and so are those that wait for them.
 */
async function orderByHolders(store: DocumentStore, waiting: readonly DecidedPlan[]): Promise<DecidedPlan[][]> {
  const obstacles = await findObstacles(store, waiting);
  const movable = new Map<DecidedPlan, boolean>();
  const groups: DecidedPlan[][] = [];
  for (const first of waiting) {
    const chain = new Set<DecidedPlan>();
    let next: Obstacle | undefined = first;
    while (next !== undefined && next !== 'settled' && !movable.has(next) && !chain.has(next)) {
      chain.add(next);
      next = obstacles.get(next);
    }
    const isMovable = next === undefined || (next !== 'settled' && (chain.has(next) || movable.get(next) === true));
    for (const one of chain) movable.set(one, isMovable);
    if (isMovable) groups.push(...splitChain([...chain], next));
  }
  return groups;
}

/** Splits a chain, in which each record waits for the following one, into groups; the last comes first. */
function splitChain(chain: readonly DecidedPlan[], next: Obstacle | undefined): DecidedPlan[][] {
  const circle = next === undefined || next === 'settled' ? -1 : chain.indexOf(next);
  const start = circle < 0 ? chain.length : circle;
  const singles = chain.slice(0, start).map((one) => [one]);
  return circle < 0 ? singles.reverse() : [chain.slice(circle), ...singles.reverse()];
}

const READ_BATCH = 500;

/** Finds what is in each record's way; records without an obstacle are not contained. */
async function findObstacles(
  store: DocumentStore,
  waiting: readonly DecidedPlan[],
): Promise<Map<DecidedPlan, Obstacle>> {
  const byPath = new Map(waiting.map((one) => [documentPath(one.plan.key), one]));
  const obstacles = new Map<DecidedPlan, Obstacle>();
  for (let start = 0; start < waiting.length; start += READ_BATCH) {
    const batch = waiting.slice(start, start + READ_BATCH);
    const claims = batch.flatMap((one) => one.plan.claims.map(({ key }) => ({ one, key })));
    const stored = await store.getMany(
      claims.map(({ key }) => key),
      ['ownerId'],
    );
    for (const [index, { one }] of claims.entries()) {
      const holder = stored[index]?.ownerId;
      if (holder === undefined || holder === documentPath(one.plan.key)) continue;
      const obstacle = byPath.get(holder) ?? 'settled';
      if (obstacle === 'settled' || !obstacles.has(one)) obstacles.set(one, obstacle);
    }
  }
  return obstacles;
}
