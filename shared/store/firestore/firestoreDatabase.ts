import type { Database } from '../database.ts';
import { MAX_COMMIT_WRITES, type StoreCall } from '../store.ts';
import { createDeadline } from './call.ts';
import { commit } from './commit.ts';
import { CommitLimiter } from './commitLimiter.ts';
import { connectFirestore, type DatabaseAddress, type FirestoreConnection } from './firestoreConnection.ts';
import { createLease, LEASE_MS } from './lease.ts';
import { type FirestoreMoment, presentMoment } from './moment.ts';
import { getDocuments } from './reads.ts';
import { creationMs } from './recommendedRate.ts';
import { scanFirestore } from './scan.ts';

const bulkAdvice = {
  records: 250,
  // Leave space for a write that checks a document of the fence. Each commit of an import contains such a write.
  writes: MAX_COMMIT_WRITES - 1,
  // Cloud Firestore can read the database's state at any moment of the last hour.
  snapshotMs: 3_600_000,
  creationMs,
};

/**
 * Opens a database of Cloud Firestore with the credentials of the environment, or the emulator at
 * `FIRESTORE_EMULATOR_HOST`. Connects at the first call. Retries after temporary errors until the call's deadline. An
 * operation that serves no call retries for 25 seconds, then throws UNAVAILABLE.
 * @param leaseMs if a process does not renew its lock for this number of milliseconds, another process can take the
 * lock
 */
export function openFirestoreDatabase(address: DatabaseAddress, leaseMs = LEASE_MS): Database<FirestoreMoment> {
  const connection = connectFirestore(address, process.env.FIRESTORE_EMULATOR_HOST);
  const limiter = new CommitLimiter();
  const connections = new WeakMap<StoreCall, FirestoreConnection>();
  const connectionOf = (call: StoreCall | undefined) => {
    if (call === undefined) return connection;
    const existingConnection = connections.get(call);
    if (existingConnection !== undefined) return existingConnection;
    const called = { ...connection, deadline: createDeadline(call.signal), ...(call.isBulk ? { limiter } : {}) };
    connections.set(call, called);
    return called;
  };
  return {
    read: (keys, fields, at, call) => getDocuments(connectionOf(call), keys, fields, at),
    scan: (range, at, call) => scanFirestore(connectionOf(call), range, at.timestamp),
    commit: async (writes, expected, events, call) => {
      if (events.length > 0) throw new Error('a database in Firestore has no audit trail');
      if (writes.length > 0) await commit(connectionOf(call), writes, expected);
    },
    moment: (call) => presentMoment(connectionOf(call)),
    advice: () => ({ ...bulkAdvice, inFlight: limiter.allowed }),
    close: () => connection.client.close(),
    trail: undefined,
    lock: createLease(connection, leaseMs),
  };
}
