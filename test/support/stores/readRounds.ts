import { decorateStore, type Reader, type Store, type TransactionWork } from '../../../shared/store/store.ts';

/**
 * Counts a store's reads of documents by key, in rounds. A read that starts during another read belongs to the same
 * round.
 */
export class ReadRounds {
  private rounds = 0;
  private inFlight = 0;

  /** Returns the number of rounds since the last call. */
  take(): number {
    const { rounds } = this;
    this.rounds = 0;
    return rounds;
  }

  around(store: Store): Store {
    return decorateStore(store, (inner) => ({
      getMany: this.counted(inner),
      transaction: <Result>(work: TransactionWork<Result>, until?: AbortSignal) =>
        inner.transaction<Result>(
          (transaction, earlier) => work({ ...transaction, getMany: this.counted(transaction) }, earlier),
          until,
        ),
    }));
  }

  private counted({ getMany }: Reader): Reader['getMany'] {
    return async (keys, fields) => {
      if (this.inFlight++ === 0) this.rounds++;
      try {
        return await getMany(keys, fields);
      } finally {
        this.inFlight--;
      }
    };
  }
}
