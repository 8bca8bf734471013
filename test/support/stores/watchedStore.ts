import type { Store, Write } from '../../../shared/store/store.ts';

/** A store that tells of the writes that it has done, and waits until that is settled. */
export function watchedStore(store: Store, onWritten: (writes: readonly Write[]) => unknown): Store {
  return {
    commit: async (writes) => {
      await store.commit(writes);
      await onWritten(writes);
    },
    transaction: async (work) => {
      let written: Write[] = [];
      const result = await store.transaction((transaction) => {
        written = [];
        const write = (writes: readonly Write[]) => {
          written.push(...writes);
          transaction.write(writes);
        };
        return work({ ...transaction, write });
      });
      await onWritten(written);
      return result;
    },
    getMany: (keys, fields) => store.getMany(keys, fields),
    snapshot: () => store.snapshot(),
    close: () => store.close(),
  };
}
