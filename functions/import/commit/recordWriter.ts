import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { MAX_COMMIT_BYTES } from '../../../shared/store/store.ts';
import { yieldToEventLoop } from '../../../shared/turns.ts';
import type { ImportContext } from '../context.ts';
import { claimsDomain } from '../read/reservedNames.ts';
import type { Planned, Settled } from '../stages.ts';
import { inWaitingOrder, WaitingRecords } from './waitingRecords.ts';
import { writeBatch } from './writeBatch.ts';

/**
 * The maximum number of clear passwords in a batch. Hashing a password takes a quarter of a second on one core. The
 * import commits small batches soon, so an interruption loses few hashes.
 */
const BATCH_PASSWORDS = 24;
/** The assumed size of a stored record, without the body and the credentials. */
const RECORD_OVERHEAD_BYTES = 1_500;
/** The maximum size of all batches in flight together, which bounds their memory. */
const MAX_BYTES_IN_FLIGHT = 4 * MAX_COMMIT_BYTES;

/**
 * Called with the outcome of each record, in the order of the file. Records that wait until another record gives up a
 * name come last. If the signal aborts, the function is not called for undecided records.
 */
type OnSettled = (settled: Settled) => void;

interface BatchInFlight {
  /** Resolves with the batch's records, or with an empty list if the signal stopped the batch. */
  readonly result: Promise<readonly Settled[]>;
  readonly plans: readonly Planned[];
  readonly bytes: number;
}

/**
 * Commits records in batches, and reports outcomes in the order of the records. Disposing of the writer waits for the
 * batches in flight, so that nothing is written after an error, and reports the outcomes of successful batches.
 */
export class RecordWriter implements AsyncDisposable {
  private readonly context: ImportContext;
  private readonly onSettled: OnSettled;
  private readonly inFlight: BatchInFlight[] = [];
  private readonly waiting: WaitingRecords;
  private bytesInFlight = 0;
  private batch: Planned[] = [];
  private batchBytes = 0;
  private batchWrites = 0;
  private batchPasswords = 0;

  constructor(context: ImportContext, onSettled: OnSettled) {
    this.context = context;
    this.onSettled = onSettled;
    this.waiting = new WaitingRecords(context);
  }

  /**
   * Resolves when the writer can accept further records. Callers await this, so that records are not read faster than
   * the database can store them.
   */
  async add(plans: readonly Planned[]): Promise<void> {
    for (const plan of plans) {
      const bytes = maxStoredBytes(plan);
      const writes = maxWrites(plan, this.context);
      const isTooLarge = this.batchBytes + bytes > MAX_COMMIT_BYTES;
      if (this.isBatchFull || isTooLarge || this.batchWrites + writes > this.context.state.pace.writesPerBatch)
        await this.send();
      this.batch.push(plan);
      this.batchBytes += bytes;
      this.batchWrites += writes;
      if (plan.record.clearPassword !== undefined) this.batchPasswords++;
    }
  }

  async finish(): Promise<void> {
    await this.send();
    while (this.inFlight.length > 0) await this.settleFirst();
    await this.writeWaiting();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { plans, result } of this.inFlight.splice(0)) {
      const [settled] = await Promise.allSettled([result]);
      if (settled.status === 'fulfilled') this.report(plans, settled.value);
    }
  }

  /** Writes the waiting records repeatedly, until a repetition settles none of them. */
  private async writeWaiting(): Promise<void> {
    let waiting = this.waiting.take();
    while (waiting.length > 0) {
      for (const plans of inWaitingOrder(waiting, maxStoredBytes)) this.report(plans, await this.write(plans));
      const remaining = this.waiting.take();
      if (remaining.length === waiting.length) {
        for (const { settled } of remaining) this.onSettled(settled);
        return;
      }
      waiting = remaining;
    }
  }

  private get isBatchFull(): boolean {
    return this.batch.length >= this.context.state.pace.recordsPerBatch || this.batchPasswords === BATCH_PASSWORDS;
  }

  private async send(): Promise<void> {
    const { batch, batchBytes: bytes } = this;
    if (batch.length === 0) return;
    this.batch = [];
    this.batchBytes = 0;
    this.batchWrites = 0;
    this.batchPasswords = 0;
    const result = this.write(batch);
    // `settleFirst` throws the error of a failed batch later. Until then, this handler prevents an unhandled rejection.
    result.catch(() => undefined);
    this.inFlight.push({ result, plans: batch, bytes });
    this.bytesInFlight += bytes;
    while (this.isFull) await this.settleFirst();
  }

  private get isFull(): boolean {
    const { batchesInFlight } = this.context.state.pace;
    return this.inFlight.length >= batchesInFlight || this.bytesInFlight + MAX_COMMIT_BYTES > MAX_BYTES_IN_FLIGHT;
  }

  /**
   * Returns an empty list if the signal stopped the batch. Its records then have no outcome; a repeated import writes
   * them.
   */
  private async write(batch: readonly Planned[]): Promise<readonly Settled[]> {
    const { signal } = this.context;
    try {
      const settled = await writeBatch(this.context, batch);
      // The embedded database is synchronous. So without this yield, no timer would fire, not even the import's
      // timeout.
      await yieldToEventLoop();
      return settled;
    } catch (error) {
      if (signal.aborted && error === signal.reason) return [];
      throw error;
    }
  }

  private async settleFirst(): Promise<void> {
    const first = this.inFlight[0];
    if (first === undefined) return;
    const settled = await first.result;
    this.inFlight.shift();
    this.bytesInFlight -= first.bytes;
    this.report(first.plans, settled);
  }

  private report(plans: readonly Planned[], batch: readonly Settled[]): void {
    for (const [index, settled] of batch.entries()) {
      const plan = plans[index];
      if (plan === undefined || !this.waiting.add(plan, settled)) this.onSettled(settled);
    }
  }
}

/**
 * Returns the maximum number of writes for a record and the documents that reserve its unique names. A new name needs
 * one write. In an overwrite, the record may also give up an earlier name for each new name. In a mirroring import, a
 * new name may belong to another record, which the import then deletes with all its names. A record with a domain also
 * counts one write for the version of the verified domains.
 */
function maxWrites(plan: RecordPlan, { rules, mirror }: Pick<ImportContext, 'rules' | 'mirror'>): number {
  const writesPerClaim = rules.onConflict === 'overwrite' ? 2 : 1;
  const claimWrites = plan.claims.length * (mirror === undefined ? writesPerClaim : 2 * writesPerClaim + 1);
  return 1 + claimWrites + (claimsDomain(plan) ? 1 : 0);
}

/**
 * Returns the greatest possible size of a stored record. A UTF-16 code unit of the body needs up to three bytes, and a
 * code unit of an encrypted credential up to four.
 */
function maxStoredBytes({ record }: RecordPlan): number {
  const credentials = Object.values(record.credentials).reduce((characters, text) => characters + text.length, 0);
  return record.body.length * 3 + credentials * 4 + RECORD_OVERHEAD_BYTES;
}
