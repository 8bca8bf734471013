import type { InstanceLock } from '../lock/instanceLock.ts';
import type { Store, UnsealedStore } from '../store.ts';
import { createDocumentStore } from '../transaction.ts';
import { createDeadline } from './call.ts';
import { commit } from './commit.ts';
import {
  type BulkPace,
  connectFirestore,
  type DatabaseAddress,
  type FirestoreConnection,
} from './firestoreConnection.ts';
import { createLease, LEASE_MS } from './lease.ts';
import { CommitLimiter, Ramp } from './pace.ts';
import { getDocuments } from './reads.ts';
import { openLastingSnapshot, openPresentSnapshot } from './snapshot.ts';

// Cloud Firestore reads any moment of the last hour.
const SNAPSHOT_LIFETIME_MS = 3_600_000;

/**
 * Opens a database of Cloud Firestore with the environment's credentials, or of the emulator at
 * `FIRESTORE_EMULATOR_HOST`. Connects at the first call. Retries transient errors until the call's deadline; without a
 * call for 25 seconds, then throws UNAVAILABLE.
 * @param ramp limits the load on new collections, which the emulator does not need
 * @param leaseMs after which the lock of a process that does not respond can be taken
 */
export function openFirestoreStore(address: DatabaseAddress, ramp = defaultRamp(), leaseMs = LEASE_MS): UnsealedStore {
  const connection = connectFirestore(address, process.env.FIRESTORE_EMULATOR_HOST);
  const lock = createLease(connection, leaseMs);
  return { unsealed: createFirestoreStore(connection, { limiter: new CommitLimiter(), ramp }, lock) };
}

function defaultRamp(): Ramp | undefined {
  return process.env.FIRESTORE_EMULATOR_HOST === undefined ? new Ramp() : undefined;
}

/** @param bulkPace the limits of bulk work, which the connections of all calls share */
function createFirestoreStore(connection: FirestoreConnection, bulkPace: BulkPace, lock: InstanceLock): Store {
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
    lastingSnapshot: (signal) => openLastingSnapshot(connection, signal),
    forCall: ({ signal, isBulk }) => {
      const called = { ...connection, deadline: createDeadline(signal), ...(isBulk ? { pace: bulkPace } : {}) };
      return createFirestoreStore(called, bulkPace, lock);
    },
    lock,
    commitsInFlight: () => bulkPace.limiter.allowed,
    close: () => connection.client.close(),
  };
}
