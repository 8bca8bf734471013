import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { storeFailed, storeUnavailable } from '../../errors/storeErrors.ts';
import { isDatabaseFull, isStorageFull, sqliteCode, withFullPath } from '../../systemCode.ts';

export interface SqliteConnection {
  readonly file: string;
  execute(sql: string): void;
  run(sql: string): void;
  inTransaction(): boolean;
  isOpen(): boolean;
  /** Returns a cached statement, which must not run twice at the same time. Its rows are arrays. */
  prepare(sql: string): StatementSync;
  /** Returns a statement for one caller alone, which can read its rows step by step. Its rows are arrays. */
  prepareAnew(sql: string): StatementSync;
  close(): void;
}

/**
 * The milliseconds for which SQLite waits for a lock of another process unless an option sets another time. The wait
 * blocks this process.
 */
export const BUSY_TIMEOUT_MS = 5_000;

export interface ConnectionOptions {
  readonly file: string;
  /** The timeout in milliseconds. */
  readonly busyTimeout?: number;
  readonly readOnly?: boolean;
}

/**
 * The size in bytes to which SQLite shortens the write-ahead log once its content is in the database. A small file has
 * the advantage that its size shows how much of the log is in use, and a larger file did not make commits faster.
 */
export const KEPT_LOG_BYTES = 4 * 2 ** 20;
/**
 * If the write-ahead log has this number of pages, a commit itself moves the pages into the database. Usually,
 * `Checkpoints` moves them before.
 */
const CHECKPOINT_PAGES = 16_000;

/**
 * Opens a connection to an existing SQLite file. SQLite overwrites deleted content with zeros (`secure_delete`).
 * @throws Error if SQLite cannot open the file
 */
export function connectSqlite({
  file,
  busyTimeout = BUSY_TIMEOUT_MS,
  readOnly = false,
}: ConnectionOptions): SqliteConnection {
  const database = new DatabaseSync(file, { readOnly });
  database.exec(
    `PRAGMA busy_timeout = ${busyTimeout}; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${KEPT_LOG_BYTES};
     PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
  );
  const prepared = new Map<string, StatementSync>();
  const prepareAnew = (sql: string) => {
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    return statement;
  };
  const prepare = (sql: string) => {
    const statement = prepared.get(sql) ?? prepareAnew(sql);
    prepared.set(sql, statement);
    return statement;
  };
  return {
    file,
    execute: (sql) => database.exec(sql),
    run: (sql) => void prepare(sql).run(),
    inTransaction: () => database.isTransaction,
    isOpen: () => database.isOpen,
    prepare,
    prepareAnew,
    close: () => database.close(),
  };
}

const LOCK_TIMEOUT_MS = 5_000;
const MAX_PAUSE_MS = 20;

/**
 * Runs work in a write transaction, once no other connection has one. The wait does not block this process. The work is
 * synchronous, so no other code of this process runs within the transaction.
 * @throws Error of SQLite if another connection has a write transaction for some seconds; the error of the work or of
 * the commit, after a rollback
 */
export async function inWriteTransaction<Result>(connection: SqliteConnection, work: () => Result): Promise<Result> {
  const deadline = performance.now() + LOCK_TIMEOUT_MS;
  while (!begin(connection, deadline)) await setTimeout(1 + Math.random() * MAX_PAUSE_MS);
  try {
    const result = work();
    connection.run('COMMIT');
    return result;
  } catch (reason) {
    // After some errors, such as a full disk, SQLite has already rolled the transaction back.
    if (connection.inTransaction()) connection.run('ROLLBACK');
    throw reason;
  }
}

/**
 * Begins a write transaction. Returns false if another connection has a write transaction.
 * @throws Error if SQLite fails for another reason; after the deadline, also if another connection still has a write
 * transaction
 */
function begin(connection: SqliteConnection, deadline: number): boolean {
  connection.execute('PRAGMA busy_timeout = 0');
  try {
    connection.run('BEGIN IMMEDIATE');
    return true;
  } catch (reason) {
    if (!isBusy(reason) || performance.now() > deadline) throw reason;
    return false;
  } finally {
    connection.execute(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }
}

const sqliteError = z.object({ code: z.literal('ERR_SQLITE_ERROR'), errstr: z.string() });

/**
 * SQLite's result codes: `busy` if another connection holds a lock, `io` if the disk fails, `damaged` if the file is
 * damaged or not a database.
 */
const results = { busy: [5, 6], io: [10], damaged: [11, 26] };

function isResult(reason: unknown, codes: readonly number[]): boolean {
  const code = sqliteCode(reason);
  return code !== undefined && codes.includes(code);
}

export const isBusy = (reason: unknown): boolean => isResult(reason, results.busy);

export const isDamaged = (reason: unknown): boolean => isResult(reason, results.damaged);

/** @param file the file that `work` may enlarge; the error about a full disk contains it */
export function withStoreErrors<Result>(work: () => Result, file?: string): Result {
  try {
    return work();
  } catch (reason) {
    throw fromSqliteError(file === undefined ? reason : withFullPath(reason, file));
  }
}

const DISK_FULL = 'the disk of the database is full: free space in the data directory, then repeat the call';
/**
 * The reason to report if SQLite cannot read or write. Not only the disk can cause such an error, but also a quota or
 * the network.
 */
const DISK_FAILED =
  'the disk of the database cannot be read or written: check its space, quota and health, then repeat the call';

/**
 * Converts an error of SQLite to an error without confidential details. Also converts the operating system's error
 * about a full disk; the path of the disk is in the cause. Returns any other error unchanged.
 */
export function fromSqliteError(reason: unknown): unknown {
  if (isBusy(reason)) return storeUnavailable({}, { cause: reason });
  if (isDatabaseFull(reason) || isStorageFull(reason)) return storeFailed({ reason: DISK_FULL }, { cause: reason });
  const { success, data } = sqliteError.safeParse(reason);
  if (!success) return reason;
  return storeFailed({ reason: isResult(reason, results.io) ? DISK_FAILED : data.errstr }, { cause: reason });
}
