import { decorateStore, type Store, type TransactionWork, type Write } from '../../../shared/store/store.ts';

/** Returns a store that reports its completed writes, and waits until the report is settled. */
export function watchedStore(store: Store, onWritten: (writes: readonly Write[]) => unknown): Store {
  return interceptedStore(store, async () => {}, onWritten);
}

/** Returns a store with an action before each of its writes, after the reads of a transaction. */
export function hookedStore(store: Store, before: (writes: readonly Write[]) => Promise<void>): Store {
  return interceptedStore(store, before, () => {});
}

/**
 * Returns a store that loses the response to each commit of a transaction, and decides again because it does not
 * recognise its commits.
 */
export function repeatingStore(store: Store): Store {
  return withSmallCommits(store, (inner) => ({
    transaction: async <Result>(work: TransactionWork<Result>, until?: AbortSignal) => {
      const lost = await inner.transaction(work, until);
      return inner.transaction<Result>((transaction, earlier) => work(transaction, [lost, ...earlier]), until);
    },
  }));
}

/**
 * Returns a store with some replaced members. A file of some hundred records needs several commits there, two of them
 * concurrent.
 */
export function withSmallCommits(store: Store, decorate: (store: Store) => Partial<Store>): Store {
  return decorateStore(store, (inner) => ({
    advice: () => ({ ...inner.advice(), records: 250, writes: 499, inFlight: 2 }),
    ...decorate(inner),
  }));
}

function interceptedStore(
  store: Store,
  before: (writes: readonly Write[]) => Promise<void>,
  after: (writes: readonly Write[]) => unknown,
): Store {
  return withSmallCommits(store, (inner) => ({
    commit: async (writes) => {
      await before(writes);
      await inner.commit(writes);
      await after(writes);
    },
    transaction: async <Result>(work: TransactionWork<Result>, until?: AbortSignal) => {
      let writes: Write[] = [];
      const result = await inner.transaction<Result>(async (transaction, earlier) => {
        writes = [];
        const returned = await work({ ...transaction, write: (added) => void writes.push(...added) }, earlier);
        await before(writes);
        transaction.write(writes);
        return returned;
      }, until);
      await after(writes);
      return result;
    },
  }));
}
