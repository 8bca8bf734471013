import { checkCommitSize, type Store, type Transaction, type Write } from '../store.ts';
import { type Connection, connect, openWriter, toStoreError, type Writer } from './connection.ts';
import { prepareDatabaseFile } from './databaseFile.ts';
import { applyWrites, readMany } from './documents.ts';
import { openSnapshot } from './snapshot.ts';

const BUSY_TIMEOUT_MILLISECONDS = 5_000;

/**
 * Opens the embedded database in one file; a missing file is created, readable by its owner only. Several processes may
 * open it at once. Writes run one at a time, and fail as UNAVAILABLE after waiting some seconds for another process.
 * @throws IdentityError UNAVAILABLE when another process keeps the file locked, INTERNAL when it is no database
 */
export function openSqliteStore(file: string): Store {
  const { reader, writer } = withStoreErrors(() => open(file));
  return {
    commit: (writes) => commit(writer, writes),
    transaction: (work) => transact(writer, work),
    getMany: async (keys, fields) => withStoreErrors(() => readConsistently(reader, keys, fields)),
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

async function commit(writer: Writer, writes: readonly Write[]): Promise<void> {
  checkCommitSize(writes);
  if (writes.length === 0) return;
  await writer.transaction((connection) => applyWrites(connection, writes)).catch(throwStoreError);
}

function transact<Result>(writer: Writer, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
  return writer
    .transaction(async (connection) => {
      const pending: Write[] = [];
      const result = await work({
        getMany: async (keys, fields) => readMany(connection, keys, fields),
        write: (writes) => {
          for (const write of writes) pending.push(write);
        },
      });
      checkCommitSize(pending);
      applyWrites(connection, pending);
      return result;
    })
    .catch(throwStoreError);
}

// A read transaction shows all documents in one state, as a batch read of Firestore does.
function readConsistently(connection: Connection, ...rest: Parameters<Store['getMany']>): ReturnType<typeof readMany> {
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
