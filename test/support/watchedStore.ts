import type { Store, Write } from '../../shared/store/store.ts';

/** A store that tells of the writes it is asked for, before it does them. */
export function watchedStore(store: Store, onWrites: (writes: readonly Write[]) => void): Store {
  return {
    commit: async (writes) => {
      onWrites(writes);
      await store.commit(writes);
    },
    transaction: (work) =>
      store.transaction((transaction) =>
        work({
          getMany: (keys, fields) => transaction.getMany(keys, fields),
          write: (writes) => {
            onWrites(writes);
            transaction.write(writes);
          },
        }),
      ),
    getMany: (keys, fields) => store.getMany(keys, fields),
    snapshot: () => store.snapshot(),
    close: () => store.close(),
  };
}
