import type { Store, Write } from '../../../shared/store/store.ts';
import { watchedStore } from './watchedStore.ts';

/** A store at which something happens before each of its writes, once the reads of a transaction are done. */
export function hookedStore(store: Store, before: (writes: readonly Write[]) => Promise<void>): Store {
  return {
    ...watchedStore(store, () => {}),
    commit: async (writes) => {
      await before(writes);
      await store.commit(writes);
    },
    transaction: (work) =>
      store.transaction(async (transaction) => {
        const writes: Write[] = [];
        const write = (some: readonly Write[]) => void writes.push(...some);
        const result = await work({ ...transaction, write });
        await before(writes);
        transaction.write(writes);
        return result;
      }),
  };
}
