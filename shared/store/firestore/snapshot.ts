// Snapshots of a Firestore database.

import { setTimeout } from 'node:timers/promises';
import { IdentityError } from '../../errors/identityError.ts';
import { documentId, type Snapshot } from '../store.ts';
import { isReadTimeRejected } from './call.ts';
import type { FirestoreConnection, Timestamp } from './firestoreConnection.ts';
import { getDocuments } from './reads.ts';
import { scanFirestore } from './scan.ts';

// Every response contains its read time; reading a document that never exists is the cheapest way to get one.
const probe = { collection: 'instance', id: documentId('read time') } as const;

/** Opens a snapshot of the present state. */
export async function openPresentSnapshot(connection: FirestoreConnection): Promise<Snapshot> {
  return openSnapshotAt(connection, await readPresentTime(connection));
}

function openSnapshotAt(connection: FirestoreConnection, readTime: Timestamp): Snapshot {
  return {
    readTime: new Date(toMilliseconds(readTime)),
    getMany: async (keys, fields) => (await getDocuments(connection, keys, fields, { readTime })).documents,
    scan: (range) => scanFirestore(connection, range, readTime),
    [Symbol.asyncDispose]: async () => {},
  };
}

async function readPresentTime(connection: FirestoreConnection): Promise<Timestamp> {
  const { readTime } = await getDocuments(connection, [probe], []);
  if (readTime === undefined) throw new Error('the database returned no read time');
  return readTime;
}

/** Converts a timestamp to milliseconds, rounded down. */
function toMilliseconds({ seconds, nanos }: Timestamp): number {
  return Number(seconds) * 1_000 + Math.floor((nanos ?? 0) / 1_000_000);
}

const MINUTE_MS = 60_000;
/** A database without point-in-time recovery rejects reads of a state that is older than an hour. */
const PROBED_AGE_MS = 2 * 3_600_000;

/**
 * Opens a snapshot that can be read for a week, which point-in-time recovery supports for whole minutes only. Waits until
 * the current minute is over, so that the snapshot contains all earlier commits.
 * @param intervalMs the interval of the moments that can be read for a week
 * @returns undefined without point-in-time recovery, and within two hours after it was enabled
 * @throws the signal's reason
 */
export async function openLastingSnapshot(
  connection: FirestoreConnection,
  signal: AbortSignal,
  intervalMs = MINUTE_MS,
): Promise<Snapshot | undefined> {
  const firstAfter = (time: number) => (Math.floor(time / intervalMs) + 1) * intervalMs;
  if (!(await canRead(connection, firstAfter(Date.now() - PROBED_AGE_MS)))) return undefined;
  let present = toMilliseconds(await readPresentTime(connection));
  const time = firstAfter(present);
  while (present <= time) {
    await setTimeout(time + 1 - present, undefined, { signal }).catch(() => signal.throwIfAborted());
    present = toMilliseconds(await readPresentTime(connection));
  }
  return openSnapshotAt(connection, toTimestamp(time));
}

async function canRead(connection: FirestoreConnection, time: number): Promise<boolean> {
  try {
    await getDocuments(connection, [probe], [], { readTime: toTimestamp(time) });
    return true;
  } catch (reason) {
    if (reason instanceof IdentityError && isReadTimeRejected(reason.cause)) return false;
    throw reason;
  }
}

function toTimestamp(time: number): Timestamp {
  return { seconds: Math.floor(time / 1_000), nanos: (time % 1_000) * 1_000_000 };
}
