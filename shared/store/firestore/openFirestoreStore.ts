import type { Store } from '../store.ts';
import { createTransact } from '../transaction.ts';
import { commit } from './commit.ts';
import { connect, type DatabaseAddress } from './connection.ts';
import { openLastingSnapshot } from './lastingSnapshot.ts';
import { readMany } from './readMany.ts';
import { openSnapshot } from './snapshot.ts';

// Cloud Firestore reads any moment of the last hour.
const SNAPSHOT_LIFETIME_MS = 3_600_000;

/**
 * Opens a database of Cloud Firestore with the environment's credentials, or of the emulator at
 * `FIRESTORE_EMULATOR_HOST`. Connects at the first call. Retries transient errors for some seconds, then throws
 * UNAVAILABLE.
 */
export function openFirestoreStore(address: DatabaseAddress): Store {
  const connection = connect(address, process.env.FIRESTORE_EMULATOR_HOST);
  return {
    commit: (writes) => commit(connection, writes),
    transaction: createTransact({
      read: (keys, fields) => readMany(connection, keys, fields),
      commit: (writes, expected) => commit(connection, writes, expected),
    }),
    getMany: async (keys, fields) => (await readMany(connection, keys, fields)).documents,
    snapshotLifetimeMs: SNAPSHOT_LIFETIME_MS,
    snapshot: () => openSnapshot(connection),
    lastingSnapshot: (signal) => openLastingSnapshot(connection, signal),
    close: () => connection.client.close(),
  };
}
