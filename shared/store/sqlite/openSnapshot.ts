import type { Snapshot, StoredDocument } from '../store.ts';
import { connect } from './connection.ts';
import { readMany } from './readMany.ts';
import { scan } from './scan.ts';
import { toStoreError } from './toStoreError.ts';

/** Opens a connection of its own whose reads all see the database as it is now. */
export function openSnapshot(file: string, busyTimeout: number): Snapshot {
  const connection = connect({ file, busyTimeout });
  connection.execute('BEGIN');
  // A read transaction takes its view of the database with its first read.
  connection.prepare('SELECT count(*) FROM (SELECT 1 FROM documents LIMIT 1)').get();
  return {
    readTime: new Date(),
    getMany: async (keys, fields) => readMany(connection, keys, fields),
    scan: (range) => withStoreErrors(scan(connection, range)),
    close: async () => connection.close(),
  };
}

async function* withStoreErrors(
  arrays: AsyncGenerator<readonly StoredDocument[]>,
): AsyncGenerator<readonly StoredDocument[]> {
  try {
    yield* arrays;
  } catch (reason) {
    throw toStoreError(reason);
  }
}
