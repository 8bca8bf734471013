import type { ScanRange, Snapshot, Store } from '../../shared/store/store.ts';
import { watchedStore } from './watchedStore.ts';

/** What Cloud Firestore would bill: documents read, one for a query that finds none, and documents written. */
export interface Billed {
  readonly read: number;
  readonly written: number;
}

/** A store that counts what it reads and writes; `take` tells how much it was since the last time. */
export function countedStore(store: Store): { readonly store: Store; take(): Billed } {
  const billed = { read: 0, written: 0 };
  const watched = watchedStore(store, (writes) => {
    billed.written += writes.length;
  });
  const counted = <Found>(found: Found[]): Found[] => {
    billed.read += found.length;
    return found;
  };
  async function* scan(snapshot: Snapshot, range: ScanRange) {
    let found = 0;
    for await (const documents of snapshot.scan(range)) {
      found += documents.length;
      yield documents;
    }
    billed.read += Math.max(1, found);
  }
  return {
    store: {
      ...watched,
      getMany: async (keys, fields) => counted(await store.getMany(keys, fields)),
      transaction: (work) =>
        watched.transaction(({ getMany, write }) =>
          work({ write, getMany: async (keys, fields) => counted(await getMany(keys, fields)) }),
        ),
      snapshot: async () => {
        const snapshot = await store.snapshot();
        return {
          ...snapshot,
          readTime: snapshot.readTime,
          getMany: async (keys, fields) => counted(await snapshot.getMany(keys, fields)),
          scan: (range) => scan(snapshot, range),
          [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose](),
        };
      },
    },
    take: () => {
      const taken = { ...billed };
      billed.read = 0;
      billed.written = 0;
      return taken;
    },
  };
}
