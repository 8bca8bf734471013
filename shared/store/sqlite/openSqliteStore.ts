import { checkCommitSize, type Store, type Write } from '../store.ts';
import {
  createTransact,
  type ExpectedVersions,
  type VersionedDatabase,
  type VersionedDocuments,
} from '../transaction.ts';
import { type Connection, connect, openWriter, toStoreError, type Writer } from './connection.ts';
import { prepareDatabaseFile } from './databaseFile.ts';
import { applyWrites, checkVersions, readMany } from './documents.ts';
import { openSnapshot } from './snapshot.ts';

const BUSY_TIMEOUT_MILLISECONDS = 5_000;

/**
 * Opens the embedded database in one file; a missing file is created, readable by its owner only. Several processes may
 * open it at once. Writes run one at a time, and fail as UNAVAILABLE after waiting some seconds for another process.
 * @throws IdentityError UNAVAILABLE when another process keeps the file locked, INTERNAL when it is no database
 */
export function openSqliteStore(file: string): Store {
  const { reader, writer } = withStoreErrors(() => open(file));
  const database: VersionedDatabase = {
    read: async (keys, fields) => withStoreErrors(() => readConsistently(reader, keys, fields)),
    commit: (writes, expected) => commit(writer, writes, expected),
  };
  return {
    commit: (writes) => commit(writer, writes),
    transaction: createTransact(database),
    getMany: async (keys, fields) => (await database.read(keys, fields)).documents,
    snapshot: async () => withStoreErrors(() => openSnapshot(file, BUSY_TIMEOUT_MILLISECONDS)),
    close: async () => {
      await writer.close();
      reader.close();
    },
  };
}

function open(file: string): { reader: Connection; writer: Writer } {
  prepareDatabaseFile(file);
  return { reader: connect({ file, busyTimeout: BUSY_TIMEOUT_MILLISECONDS }), writer: openWriter(file) };
}

async function commit(writer: Writer, writes: readonly Write[], expected: ExpectedVersions = new Map()): Promise<void> {
  checkCommitSize(writes);
  if (writes.length === 0) return;
  const apply = (connection: Connection) => {
    checkVersions(connection, expected);
    applyWrites(connection, writes);
  };
  await writer.transaction(apply).catch(throwStoreError);
}

// One read transaction, so that all documents are of one state, as in Firestore.
function readConsistently(connection: Connection, ...rest: Parameters<Store['getMany']>): VersionedDocuments {
  connection.execute('BEGIN');
  try {
    return readMany(connection, ...rest);
  } finally {
    connection.execute('COMMIT');
  }
}

function withStoreErrors<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (reason) {
    throw toStoreError(reason);
  }
}

function throwStoreError(reason: unknown): never {
  throw toStoreError(reason);
}
