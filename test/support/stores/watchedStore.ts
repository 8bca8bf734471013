import type { Store, Write } from '../../../shared/store/store.ts';

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
    transaction: async (work) => {
      await store.transaction(work);
      return store.transaction(work);
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
    transaction: async (work) => {
      let writes: Write[] = [];
      const result = await store.transaction(async (transaction) => {
        writes = [];
        const returned = await work({ ...transaction, write: (added) => void writes.push(...added) });
        await before(writes);
        transaction.write(writes);
        return returned;
      });
      await after(writes);
      return result;
    },
    getMany: (keys, fields) => store.getMany(keys, fields),
    snapshot: () => store.snapshot(),
    lock: store.lock,
    close: () => store.close(),
  };
}
