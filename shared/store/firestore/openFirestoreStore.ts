import type { InstanceLock } from '../lock/instanceLock.ts';
import type { Store, UnsealedStore } from '../store.ts';
import { createDocumentStore } from '../transaction.ts';
import { createDeadline } from './call.ts';
import { commit } from './commit.ts';
import { CommitLimiter } from './commitLimiter.ts';
import { connectFirestore, type DatabaseAddress, type FirestoreConnection } from './firestoreConnection.ts';
import { createLease, LEASE_MS } from './lease.ts';
import { getDocuments } from './reads.ts';
import { openPresentSnapshot } from './snapshot.ts';

// Cloud Firestore reads any moment of the last hour.
const SNAPSHOT_LIFETIME_MS = 3_600_000;

/**
 * Opens a database of Cloud Firestore with the environment's credentials, or of the emulator at
 * `FIRESTORE_EMULATOR_HOST`. Connects at the first call. Retries transient errors until the call's deadline; without a
 * call for 25 seconds, then throws UNAVAILABLE.
 * @param leaseMs after which the lock of a process that does not respond can be taken
 */
export function openFirestoreStore(address: DatabaseAddress, leaseMs = LEASE_MS): UnsealedStore {
  const connection = connectFirestore(address, process.env.FIRESTORE_EMULATOR_HOST);
  const lock = createLease(connection, leaseMs);
  return { unsealed: createFirestoreStore(connection, new CommitLimiter(), lock) };
}

/** @param limiter limits the commits of bulk work; the connections of all calls share it */
function createFirestoreStore(connection: FirestoreConnection, limiter: CommitLimiter, lock: InstanceLock): Store {
  return {
    ...createDocumentStore({
      read: (keys, fields) => getDocuments(connection, keys, fields),
      commit: async (writes, expected, events) => {
        if (events.length > 0) throw new Error('a database in Firestore has no audit trail');
        await commit(connection, writes, expected);
      },
    }),
    snapshotLifetimeMs: SNAPSHOT_LIFETIME_MS,
    snapshot: () => openPresentSnapshot(connection),
    forCall: ({ signal, isBulk }) => {
      const called = { ...connection, deadline: createDeadline(signal), ...(isBulk ? { limiter } : {}) };
      return createFirestoreStore(called, limiter, lock);
    },
    lock,
    commitsInFlight: () => limiter.allowed,
    close: () => connection.client.close(),
  };
}
