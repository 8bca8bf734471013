import { openStore } from '../../shared/store/openStore.ts';
import type { Store } from '../../shared/store/store.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

/** Does some work with a new embedded database, which is removed afterwards. */
export async function withTemporaryStore<Result>(work: (store: Store) => Promise<Result>): Promise<Result> {
  const directory = await temporaryDirectory();
  const store = await openStore({ kind: 'sqlite', directory: directory.path });
  try {
    return await work(store);
  } finally {
    await store.close();
    await directory.remove();
  }
}
