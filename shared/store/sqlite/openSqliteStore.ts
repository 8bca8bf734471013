import { dirname, join } from 'node:path';
import type { Keyring } from '../secrets/keyring.ts';
import type { Store, TrailEvent, UnsealedStore, Write } from '../store.ts';
import { createDocumentStore, type ExpectedVersions, type VersionedDocuments } from '../transaction.ts';
import { prepareDatabaseFile, requireFileFormat } from './databaseFile.ts';
import { applyWrites, checkVersions, newestVersion, nextVersion, selectDocuments } from './documents.ts';
import { createFileLock } from './fileLock.ts';
import { Checkpoints, LogFile } from './logFile.ts';
import { Snapshots } from './snapshots.ts';
import { connectSqlite, fromSqliteError, type SqliteConnection, withStoreErrors } from './sqliteConnection.ts';
import { insertEvents, openTrail, toTrailError } from './trail.ts';
import { type Change, openWriter, type Writer } from './writer.ts';

/** With the commit that exceeds it, the log stays below the size of the database and 64 MB. */
const LOG_MARGIN_BYTES = 56 * 2 ** 20;

/** More writes than these are bulk work. */
const MAX_SMALL_WRITES = 16;
/** A large commit costs less for each record; a small one lets requests through soon. */
const bulkRecords = { attended: 80, unattended: 1_000 };

export interface SqliteStoreOptions {
  /** How much larger than the database its write-ahead log may become before the open snapshots end. */
  readonly logMarginBytes?: number;
  /** Whether requests are likely to wait for this process, so that bulk work uses small batches. By default, none wait. */
  readonly isAttended?: (() => boolean) | undefined;
  /** The keys that encrypt its secrets, whose ids the database has. */
  readonly keyring: Keyring;
}

/**
 * Opens the embedded database in one file; a missing file is created, readable by its owner only. Several processes may
 * open it at once. Writes run one at a time, and fail as UNAVAILABLE after waiting some seconds for another process.
 * Snapshots throw ABORTED after concurrent writes have outgrown the write-ahead log's limit.
 * @throws IdentityError UNAVAILABLE when another process keeps the file locked, or its master key is missing or wrong,
 * or it has another format; INTERNAL when it is no database
 */
export function openSqliteStore(file: string, options: SqliteStoreOptions): UnsealedStore {
  const { logMarginBytes = LOG_MARGIN_BYTES, isAttended = () => false, keyring } = options;
  return withStoreErrors(() => {
    prepareDatabaseFile(file, keyring);
    return { unsealed: createSqliteStore(file, logMarginBytes, isAttended) };
  });
}

function createSqliteStore(file: string, logMarginBytes: number, isAttended: () => boolean): Store {
  const reader = connectSqlite({ file });
  requireFileFormat(reader);
  const log = new LogFile(reader);
  const snapshots = new Snapshots({ file, log, logMarginBytes }, isAttended);
  const onCommit = () => {
    const logBytes = log.size();
    checkpoints.afterCommit(logBytes, snapshots.limitLog(logBytes));
  };
  const onBegin = (connection: SqliteConnection) => {
    requireFileFormat(connection);
    return nextVersion(connection);
  };
  const writer = openWriter(file, { onBegin, onCommit, sync: log.sync });
  const checkpoints = new Checkpoints(file, writer.between);
  return {
    ...createDocumentStore({
      read: async (keys, fields) => withStoreErrors(() => readConsistently(reader, keys, fields)),
      commit: (writes, expected, events) => commitWrites(writer, writes, expected, events),
    }),
    snapshot: async () => {
      const snapshot = withStoreErrors(() => snapshots.open());
      await log.sync();
      return snapshot;
    },
    durable: log.sync,
    trail: openTrail(reader, writer),
    lock: createFileLock(join(dirname(file), 'lock'), () => withStoreErrors(() => newestVersion(reader))),
    recordsPerCommit: () => bulkRecords[isAttended() ? 'attended' : 'unattended'],
    close: async () => {
      await checkpoints.close();
      await writer.close();
      log.close();
      reader.close();
    },
  };
}

async function commitWrites(
  writer: Writer,
  writes: readonly Write[],
  expected: ExpectedVersions,
  events: readonly TrailEvent[],
): Promise<void> {
  const size = writes.length > MAX_SMALL_WRITES ? 'bulk' : 'small';
  const change: Change = (connection, version) => {
    checkVersions(connection, expected);
    applyWrites(connection, writes, version);
    insertEvents(connection, events);
  };
  await writer.apply(change, size).catch((reason: unknown) => {
    throw events.length === 0 ? fromSqliteError(reason) : toTrailError(reason);
  });
}

// One read transaction, so that all documents are of one state, as in Firestore. One statement is a transaction anyway.
function readConsistently(connection: SqliteConnection, ...rest: Parameters<Store['getMany']>): VersionedDocuments {
  if (rest[0].length <= 1) return selectDocuments(connection, ...rest);
  connection.run('BEGIN');
  try {
    return selectDocuments(connection, ...rest);
  } finally {
    connection.run('COMMIT');
  }
}
