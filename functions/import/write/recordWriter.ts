import type { RecordPlan } from '../../../shared/organisation/recordPlan.ts';
import { MAX_COMMIT_BYTES } from '../../../shared/store/store.ts';
import type { BatchContext, Outcome } from './batchContext.ts';
import { writeBatch } from './recordBatch.ts';

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
