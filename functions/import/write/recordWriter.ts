import { MAX_COMMIT_BYTES } from '../../../shared/store/store.ts';
import { yieldToEventLoop } from '../../../shared/turns.ts';
import type { DecidedPlan, PlacedPlan } from '../outcome.ts';
import type { BatchContext } from './batchContext.ts';
import { writeBatch } from './writeBatch.ts';

const BATCH_RECORDS = 250;
/** A password takes a quarter of a second of a core: small batches are stored soon, and an interruption loses little. */
const BATCH_PASSWORDS = 24;
/** The size allowance for fields other than the body and the credentials. */
const RECORD_OVERHEAD_BYTES = 1_500;
/** Commits take turns unless the database reports how many it takes at once. */
const MIN_BATCHES_IN_FLIGHT = 4;
/** Bounds the memory of the batches in flight. */
const MAX_BYTES_IN_FLIGHT = 4 * MAX_COMMIT_BYTES;

/** A listener for the outcomes, in the file's order. A record that the signal leaves undecided has none. */
type OutcomeListener = (decided: DecidedPlan) => void;

interface BatchInFlight {
  /** Resolves with all records of the batch, or with none if the signal stopped it. */
  readonly writing: Promise<readonly DecidedPlan[]>;
  readonly bytes: number;
}

/**
 * A writer that commits records in batches, several in flight, and reports outcomes in the order of the records. Memory
 * is bounded by the batches in flight. Disposing of the writer waits for them, so that nothing is written after an error.
 */
export class RecordWriter implements AsyncDisposable {
  private readonly context: BatchContext;
  private readonly settled: OutcomeListener;
  private readonly inFlight: BatchInFlight[] = [];
  private bytesInFlight = 0;
  private batch: PlacedPlan[] = [];
  private batchBytes = 0;
  private batchPasswords = 0;

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

  /** Writes the remaining records, and waits for all batches in flight. */
  async finish(): Promise<void> {
    await this.send();
    while (this.inFlight.length > 0) await this.settleFirst();
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

  /** Writes a batch, and returns nothing if the signal stopped it: a repeated import decides its records. */
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
    for (const one of decided) this.settled(one);
  }
}

/** Returns the upper bound of a record's stored size: a UTF-16 code unit takes up to three bytes, or four as base64. */
function maxStoredBytes({ record }: PlacedPlan): number {
  const credentials = Object.values(record.credentials).reduce((characters, text) => characters + text.length, 0);
  return record.body.length * 3 + credentials * 4 + RECORD_OVERHEAD_BYTES;
}
