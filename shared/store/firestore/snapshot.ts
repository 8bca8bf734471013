// Snapshots of a Firestore database.

import { documentId, type Snapshot } from '../store.ts';
import type { FirestoreConnection, Timestamp } from './firestoreConnection.ts';
import { getDocuments } from './reads.ts';
import { scanFirestore } from './scan.ts';

// Every response contains its read time; reading a document that never exists is the cheapest way to get one.
const probe = { collection: 'instance', id: documentId('read time') } as const;

/** Opens a snapshot of the present state. */
export async function openPresentSnapshot(connection: FirestoreConnection): Promise<Snapshot> {
  const { readTime } = await getDocuments(connection, [probe], []);
  if (readTime === undefined) throw new Error('the database returned no read time');
  return {
    readTime: new Date(toMilliseconds(readTime)),
    getMany: async (keys, fields) => (await getDocuments(connection, keys, fields, { readTime })).documents,
    scan: (range) => scanFirestore(connection, range, readTime),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Converts a timestamp to milliseconds, rounded down. */
function toMilliseconds({ seconds, nanos }: Timestamp): number {
  return Number(seconds) * 1_000 + Math.floor((nanos ?? 0) / 1_000_000);
}
