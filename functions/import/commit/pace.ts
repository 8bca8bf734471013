import type { Advice, Store } from '../../../shared/store/store.ts';

/** While one batch is committed, the next one is prepared. More of them only occupy memory where commits take turns. */
const MIN_BATCHES_IN_FLIGHT = 2;

/** The pace of an import's batches, which adapts to what the database takes and contains. */
export class Pace {
  /** Whether the last batch met existing records, so that reading first is cheaper than attempting creation. */
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
