import { MAX_COMMIT_WRITES, type Store } from '../../../shared/store/store.ts';

const RECORDS_PER_BATCH = 250;
/** While one batch is committed, the next one is prepared. More of them only occupy memory where commits take turns. */
const MIN_BATCHES_IN_FLIGHT = 2;

/** The pace of an import's batches, which adapts to what the database takes and contains. */
export class Pace {
  /** Whether the last batch met existing records, so that reading first is cheaper than attempting creation. */
  readsFirst = false;
  private readonly store: Pick<Store, 'commitsInFlight' | 'recordsPerCommit'>;

  /** @param store the database, if it reports what it takes */
  constructor(store: Pick<Store, 'commitsInFlight' | 'recordsPerCommit'>) {
    this.store = store;
  }

  get recordsPerBatch(): number {
    return this.store.recordsPerCommit?.() ?? RECORDS_PER_BATCH;
  }

  /** The writes of a batch. The commit also contains the document by which the database fences the import's lock. */
  get writesPerBatch(): number {
    return this.store.recordsPerCommit === undefined ? MAX_COMMIT_WRITES - 1 : Number.POSITIVE_INFINITY;
  }

  get batchesInFlight(): number {
    return Math.max(MIN_BATCHES_IN_FLIGHT, this.store.commitsInFlight?.() ?? 0);
  }
}
