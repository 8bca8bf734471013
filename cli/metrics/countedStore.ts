import type { Reader, Snapshot, Store } from '../../shared/store/store.ts';

/** Is told of the documents that a store has written and read. */
export interface DocumentCounts {
  written(documents: number): void;
  read(documents: number): void;
}

/** Returns a store that counts the documents of its successful operations. */
export function countedStore(store: Store, counts: DocumentCounts): Store {
  const { lastingSnapshot } = store;
  return {
    ...store,
    getMany: countedReads(store, counts),
    commit: async (writes) => {
      await store.commit(writes);
      counts.written(writes.length);
    },
    transaction: async (work) => {
      let written = 0;
      const result = await store.transaction((transaction) => {
        // A conflict runs the work again.
        written = 0;
        return work({
          ...transaction,
          getMany: countedReads(transaction, counts),
          write: (writes) => {
            written += writes.length;
            transaction.write(writes);
          },
        });
      });
      counts.written(written);
      return result;
    },
    snapshot: async () => countedSnapshot(await store.snapshot(), counts),
    ...(lastingSnapshot && {
      lastingSnapshot: async (signal, readTime) => {
        const snapshot = await lastingSnapshot(signal, readTime);
        return snapshot && countedSnapshot(snapshot, counts);
      },
    }),
    ...(store.forCall && { forCall: (call) => countedStore(store.forCall?.(call) ?? store, counts) }),
  };
}

function countedReads(reader: Reader, counts: DocumentCounts): Reader['getMany'] {
  return async (keys, fields) => {
    const documents = await reader.getMany(keys, fields);
    counts.read(documents.filter((document) => document !== undefined).length);
    return documents;
  };
}

function countedSnapshot(snapshot: Snapshot, counts: DocumentCounts): Snapshot {
  return {
    readTime: snapshot.readTime,
    getMany: countedReads(snapshot, counts),
    scan: async function* (range) {
      for await (const documents of snapshot.scan(range)) {
        counts.read(documents.length);
        yield documents;
      }
    },
    [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose](),
  };
}
