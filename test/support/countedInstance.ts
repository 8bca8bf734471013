import type { Write } from '../../shared/store/store.ts';
import { openTestStore, type StoreKind } from './stores.ts';
import { testInstance } from './testInstance.ts';
import { watchedStore } from './watchedStore.ts';

/** An instance whose writes are counted from the moment that `from` is called. */
export async function countedInstance(kind: StoreKind) {
  let writes: Write[] = [];
  const store = await openTestStore(kind);
  const instance = await testInstance(
    watchedStore(store, (some) => {
      writes.push(...some);
    }),
  );
  return {
    instance,
    store,
    writesOf: async <Result>(work: () => Promise<Result>) => {
      writes = [];
      return { result: await work(), writes: writes.length };
    },
  };
}
