import { dirname, join } from 'node:path';
import type { Database, ExpectedVersions, VersionedDocuments } from '../database.ts';
import type { FieldName } from '../documentFields.ts';
import type { Keyring } from '../secrets/keyring.ts';
import type { DocumentKey, TrailEvent, Write } from '../store.ts';
import { prepareDatabaseFile, requireFileFormat } from './databaseFile.ts';
import { applyWrites, checkVersions, newestVersion, nextVersion, selectDocuments } from './documents.ts';
import { createFileLock } from './fileLock.ts';
import { Checkpoints, LogFile } from './logFile.ts';
import { Moments, type SqliteMoment, scanSqlite } from './moments.ts';
import { connectSqlite, fromSqliteError, type SqliteConnection, withStoreErrors } from './sqliteConnection.ts';
import { insertEvents, openTrail, toTrailError } from './trail.ts';
import { type Change, createWriter, type Writer } from './writer.ts';

/** Leaves room for the commit that exceeds the limit: the log stays below the size of the database plus 64 MB. */
const LOG_MARGIN_BYTES = 56 * 2 ** 20;

/** A commit with more writes counts as bulk work. */
const MAX_SMALL_WRITES = 16;
/**
 * The recommended sizes for bulk work. Large commits cost less per record, but waiting requests run sooner after small
 * commits. Commits run one at a time, with any number of writes. A snapshot can be read until it is disposed of.
 */
const bulkAdvice = {
  writes: Number.POSITIVE_INFINITY,
  inFlight: 1,
  snapshotMs: Number.POSITIVE_INFINITY,
  creationMs: () => 0,
};
const attendedAdvice = { ...bulkAdvice, records: 80 };
const unattendedAdvice = { ...bulkAdvice, records: 1_000 };

export interface SqliteOptions {
  /**
   * The number of bytes by which the write-ahead log may exceed the size of the database before the open snapshots end.
   */
  readonly logMarginBytes?: number;
  /**
   * Whether requests are likely to wait for this process, so that bulk work should use small batches; by default false.
   */
  readonly isAttended?: (() => boolean) | undefined;
  /** The keys that encrypt secrets. The database contains their ids. */
  readonly keyring: Keyring;
}

/**
 * Opens the embedded database in one file; creates a missing file, which only its owner can read. Several processes may
 * open the file at once. Writes run one at a time, and fail with UNAVAILABLE after waiting some seconds for another
 * process. Snapshots throw ABORTED after concurrent writes have exceeded the write-ahead log's limit.
 * @throws IdentityError UNAVAILABLE if another process keeps the file locked, the master key is missing or wrong, or
 * the file has another format; INTERNAL if the file is not a database
 */
export function openSqliteDatabase(file: string, options: SqliteOptions): Database<SqliteMoment> {
  const { logMarginBytes = LOG_MARGIN_BYTES, isAttended = () => false, keyring } = options;
  return withStoreErrors(() => {
    prepareDatabaseFile(file, keyring);
    return createDatabase(file, logMarginBytes, isAttended);
  }, file);
}

function createDatabase(file: string, logMarginBytes: number, isAttended: () => boolean): Database<SqliteMoment> {
  // Use one connection for reads and writes: a commit of another connection would empty the cache of the reading
  // connection.
  const connection = connectSqlite({ file });
  requireFileFormat(connection);
  const log = new LogFile(connection);
  const moments = new Moments({ file, log, logMarginBytes });
  const onCommit = () => {
    const logBytes = log.size();
    checkpoints.afterCommit(logBytes, moments.limitLog(logBytes));
  };
  const onBegin = () => {
    requireFileFormat(connection);
    return nextVersion(connection);
  };
  const writer = createWriter(connection, { onBegin, onCommit, sync: log.sync });
  const checkpoints = new Checkpoints(file, writer.between);
  return {
    read: async (keys, fields, at) =>
      withStoreErrors(() =>
        at === undefined ? readConsistently(connection, keys, fields) : selectDocuments(at.connection(), keys, fields),
      ),
    scan: (range, at) => scanSqlite(range, at, isAttended),
    commit: (writes, expected, events) =>
      writes.length === 0 && events.length === 0 ? log.sync() : commitWrites(writer, writes, expected, events),
    moment: async () => {
      const moment = withStoreErrors(() => moments.open());
      await log.sync();
      return moment;
    },
    advice: () => (isAttended() ? attendedAdvice : unattendedAdvice),
    close: async () => {
      await checkpoints.close();
      await writer.settled();
      log.close();
      connection.close();
    },
    trail: openTrail(connection, writer),
    lock: createFileLock(join(dirname(file), 'lock'), () => withStoreErrors(() => newestVersion(connection))),
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

// Use a single read transaction, so that all documents are of the same state, as in Firestore. A single statement is
// always a transaction.
function readConsistently(
  connection: SqliteConnection,
  keys: readonly DocumentKey[],
  fields: readonly FieldName[],
): VersionedDocuments {
  if (keys.length <= 1) return selectDocuments(connection, keys, fields);
  connection.run('BEGIN');
  try {
    return selectDocuments(connection, keys, fields);
  } finally {
    connection.run('COMMIT');
  }
}
