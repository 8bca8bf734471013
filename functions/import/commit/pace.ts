import type { Advice, Store } from '../../../shared/store/store.ts';

/**
 * The minimum is two, so that the import prepares a batch while the database commits another. If the database commits
 * one batch at a time, more than two batches would only use memory without saving time.
 */
const MIN_BATCHES_IN_FLIGHT = 2;

export class Pace {
  /**
   * True if the last batch contained records that already existed. The next batch then probably does too, so reading
   * its records before writing is faster than a failed attempt to create them.
   */
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
