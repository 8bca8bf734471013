import type { Moment } from '../database.ts';
import { documentId } from '../store.ts';
import type { FirestoreConnection } from './firestoreConnection.ts';
import type { Timestamp } from './messages.ts';
import { getDocuments } from './reads.ts';

export interface FirestoreMoment extends Moment {
  readonly timestamp: Timestamp;
}

// Every response to a read contains the time of the read. To get only this time, read a document that never exists,
// because this costs least.
const probe = { collection: 'instance', id: documentId('read time') } as const;

export async function presentMoment(connection: FirestoreConnection): Promise<FirestoreMoment> {
  const { readTime } = await getDocuments(connection, [probe], []);
  if (readTime === undefined) throw new Error('the database returned no read time');
  return {
    readTime: new Date(toMilliseconds(readTime)),
    timestamp: readTime,
    [Symbol.asyncDispose]: async () => {},
  };
}

function toMilliseconds({ seconds, nanos }: Timestamp): number {
  return seconds * 1_000 + Math.floor(nanos / 1_000_000);
}
