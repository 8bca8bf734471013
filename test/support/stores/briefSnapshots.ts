import { snapshotEnded } from '../../../shared/errors/storeErrors.ts';
import { decorateStore, type Snapshot, type Store } from '../../../shared/store/store.ts';
import { watchedStore } from './watchedStore.ts';

/**
 * Returns a store whose snapshots end with its next commit, as if each commit were too large for the log of the
 * database.
 */
export function withBriefSnapshots(store: Store): Store {
  let commits = 0;
  return decorateStore(
    watchedStore(store, () => void commits++),
    (inner) => ({
      snapshot: async () => {
        const commitsBefore = commits;
        return endingSnapshot(await inner.snapshot(), () => {
          if (commits > commitsBefore) throw snapshotEnded();
        });
      },
    }),
  );
}

function endingSnapshot(snapshot: Snapshot, requireOpen: () => void): Snapshot {
  return {
    readTime: snapshot.readTime,
    getMany: async (keys, fields) => {
      requireOpen();
      return snapshot.getMany(keys, fields);
    },
    async *scan(range) {
      requireOpen();
      for await (const documents of snapshot.scan(range)) {
        yield documents;
        requireOpen();
      }
    },
    [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose](),
  };
}
