import type { Advice, Store } from '../../../shared/store/store.ts';

/**
 * The import prepares the next batch while the database commits another. If the database commits one batch at a time,
 * more batches would only occupy memory.
 */
const MIN_BATCHES_IN_FLIGHT = 2;

/** The pace of an import's batches. It adapts to the speed and the content of the database. */
export class Pace {
  /** Whether the last batch contained existing records: then reading first is cheaper than attempting to create. */
  readsFirst = false;
  private readonly advice: Store['advice'];

  constructor(advice: () => Advice) {
    this.advice = advice;
  }

  get recordsPerBatch(): number {
    return this.advice().records;
  }

  get writesPerBatch(): number {
    return this.advice().writes;
  }

  get batchesInFlight(): number {
    return Math.max(MIN_BATCHES_IN_FLIGHT, this.advice().inFlight);
  }
}
