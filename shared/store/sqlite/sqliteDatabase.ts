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

/**
 * A single commit may make the log exceed its limit before the snapshots end. With this margin, the log still stays
 * below the size of the database plus 64 MB.
 */
const LOG_MARGIN_BYTES = 56 * 2 ** 20;

const MAX_SMALL_WRITES = 16;
/**
 * The recommended sizes for bulk work. Larger commits cost less per record, but requests wait longer for a larger
 * commit. Commits run one at a time, and may contain any number of writes. A snapshot stays readable until it is
 * disposed of.
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
   * The write-ahead log may be larger than the database by this number of bytes. If the log grows further, all open
   * snapshots end.
   */
  readonly logMarginBytes?: number;
  /**
   * Returns whether requests are likely to wait for this process. If so, bulk work should use small batches. If absent,
   * bulk work always uses large batches.
   */
  readonly isAttended?: (() => boolean) | undefined;
  /** The master keys. The database contains only their ids. */
  readonly keyring: Keyring;
}

/**
 * Opens the embedded database, which is one file. Creates a missing file, which only its owner can read. Several
 * processes may open the file at the same time. Their write transactions run one at a time; a write throws UNAVAILABLE
 * if it has waited some seconds for another process. If writes make the write-ahead log exceed its limit, reads of open
 * snapshots throw ABORTED.
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
  // Use the same connection for reads and writes. With two connections, each commit would empty the cache of the
  // connection that reads.
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

// Several statements need a read transaction, so that all documents belong to the same state, as in Firestore. A single
// statement is always a transaction.
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
