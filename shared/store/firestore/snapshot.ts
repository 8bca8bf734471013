import { documentId, type Snapshot } from '../store.ts';
import type { FirestoreConnection, Timestamp } from './connection.ts';
import { readMany } from './readMany.ts';
import { scan } from './scan.ts';

// Every response carries its read time; reading a document that never exists is the cheapest way to get one.
const probe = { collection: 'instance', id: documentId('read time') } as const;

/** Opens a snapshot of the present state. */
export async function openSnapshot(connection: FirestoreConnection): Promise<Snapshot> {
  return openSnapshotAt(connection, await readPresentTime(connection));
}

/** Opens a snapshot of the state at a moment. */
export function openSnapshotAt(connection: FirestoreConnection, readTime: Timestamp): Snapshot {
  return {
    readTime: new Date(toMilliseconds(readTime)),
    getMany: async (keys, fields) => (await readMany(connection, keys, fields, { readTime })).documents,
    scan: (range) => scan(connection, range, readTime),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Reads the database's clock. */
export async function readPresentTime(connection: FirestoreConnection): Promise<Timestamp> {
  const { readTime } = await readMany(connection, [probe], []);
  if (readTime === undefined) throw new Error('the database returned no read time');
  return readTime;
}

/** Reads something at a moment, which fails if the database does not keep its state any more. */
export async function probeTime(connection: FirestoreConnection, readTime: Timestamp): Promise<void> {
  await readMany(connection, [probe], [], { readTime });
}

/** Converts a timestamp to milliseconds, rounded down. */
export function toMilliseconds({ seconds, nanos }: Timestamp): number {
  return Number(seconds) * 1_000 + Math.floor((nanos ?? 0) / 1_000_000);
}
