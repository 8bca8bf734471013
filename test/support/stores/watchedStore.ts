import type { Store, TransactionWork, Write } from '../../../shared/store/store.ts';

/** A store that reports its completed writes, and waits until the report is settled. */
export function watchedStore(store: Store, onWritten: (writes: readonly Write[]) => unknown): Store {
  return interceptedStore(store, async () => {}, onWritten);
}

/** A store with an action before each of its writes, once the reads of a transaction are done. */
export function hookedStore(store: Store, before: (writes: readonly Write[]) => Promise<void>): Store {
  return interceptedStore(store, before, () => {});
}

/** A store that loses the response to each commit of a transaction, and decides again: it does not recognise its commits. */
export function repeatingStore(store: Store): Store {
  return {
    ...watchedStore(store, () => {}),
    transaction: async <Result>(work: TransactionWork<Result>, until?: AbortSignal) => {
      const lost = await store.transaction(work, until);
      return store.transaction<Result>((transaction, earlier) => work(transaction, [lost, ...earlier]), until);
    },
  };
}

function interceptedStore(
  store: Store,
  before: (writes: readonly Write[]) => Promise<void>,
  after: (writes: readonly Write[]) => unknown,
): Store {
  return {
    commit: async (writes) => {
      await before(writes);
      await store.commit(writes);
      await after(writes);
    },
    transaction: async <Result>(work: TransactionWork<Result>, until?: AbortSignal) => {
      let writes: Write[] = [];
      const result = await store.transaction<Result>(async (transaction, earlier) => {
        writes = [];
        const returned = await work({ ...transaction, write: (added) => void writes.push(...added) }, earlier);
        await before(writes);
        transaction.write(writes);
        return returned;
      }, until);
      await after(writes);
      return result;
    },
    getMany: (keys, fields) => store.getMany(keys, fields),
    snapshot: () => store.snapshot(),
    lock: store.lock,
    close: () => store.close(),
  };
}
