import { snapshotEnded } from '../../../shared/errors/storeErrors.ts';
import type { Snapshot, Store } from '../../../shared/store/store.ts';
import { watchedStore } from './watchedStore.ts';

/** A store whose snapshots end with its next commit, as if each commit outgrew the log of the database. */
export function withBriefSnapshots(store: Store): Store {
  let commits = 0;
  return {
    ...watchedStore(store, () => void commits++),
    snapshot: async () => {
      const commitsBefore = commits;
      return endingSnapshot(await store.snapshot(), () => {
        if (commits > commitsBefore) throw snapshotEnded();
      });
    },
  };
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
