// Connections to a SQLite file, and conversion of SQLite's errors.

import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { storeFailed, storeUnavailable } from '../../errors/storeErrors.ts';
import { isDatabaseFull, isStorageFull, sqliteCode, withFullPath } from '../../systemCode.ts';

/** A connection to a database file. It caches prepared statements. */
export interface SqliteConnection {
  readonly file: string;
  execute(sql: string): void;
  /** Runs a statement, which is prepared once. */
  run(sql: string): void;
  inTransaction(): boolean;
  isOpen(): boolean;
  /** Returns a statement, which is prepared once and must not run twice at the same time. Its rows are arrays. */
  prepare(sql: string): StatementSync;
  /** Prepares a statement for this caller only, so that its rows can be read step by step. */
  prepareAnew(sql: string): StatementSync;
  close(): void;
}

/** The default time for which SQLite waits for another process's lock, and blocks this process. */
export const BUSY_TIMEOUT_MS = 5_000;

export interface ConnectionOptions {
  readonly file: string;
  /** How many milliseconds SQLite blocks this process while another process holds a lock. */
  readonly busyTimeout?: number;
  readonly readOnly?: boolean;
}

/**
 * The size to which SQLite shortens a write-ahead log after its content was moved into the database. Commits to a
 * larger file were not faster, and the size of a small file shows how much of the file is in use.
 */
export const KEPT_LOG_BYTES = 4 * 2 ** 20;
/**
 * The number of pages after which a commit moves the log into the database, if `Checkpoints` has not done so before.
 */
const CHECKPOINT_PAGES = 16_000;

/**
 * Opens a connection to an existing database file. SQLite erases deleted and overwritten content from free space.
 * @throws Error of SQLite
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
 * Runs work in a write transaction, as soon as no other connection has one. Does not block this process during the
 * wait. Other code never runs within the transaction, because the work is synchronous.
 * @throws Error of SQLite if another connection keeps the lock for some seconds; the error of the work or the commit,
 * after a rollback
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
 * Begins a write transaction; returns false if another connection has one.
 * @throws Error of SQLite; after the deadline also if another connection has a write transaction
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

/** SQLite's result codes for a lock of another connection, a failing disk, and a damaged file or another kind of file. */
const results = { busy: [5, 6], io: [10], damaged: [11, 26] };

function isResult(reason: unknown, codes: readonly number[]): boolean {
  const code = sqliteCode(reason);
  return code !== undefined && codes.includes(code);
}

/** Whether `reason` is SQLite's error for a lock that another connection holds. */
export const isBusy = (reason: unknown): boolean => isResult(reason, results.busy);

/** Whether `reason` is SQLite's error for a file that is damaged or not a database. */
export const isDamaged = (reason: unknown): boolean => isResult(reason, results.damaged);

/**
 * Runs work, and converts an error of SQLite.
 * @param file the file that the work may enlarge
 */
export function withStoreErrors<Result>(work: () => Result, file?: string): Result {
  try {
    return work();
  } catch (reason) {
    throw fromSqliteError(file === undefined ? reason : withFullPath(reason, file));
  }
}

const DISK_FULL = 'its disk is full: free space in the data directory, then repeat the call';
/**
 * The text for SQLite's errors of reading and writing. A quota, a network disk or a broken disk can also cause them.
 */
const DISK_FAILED =
  'its disk cannot be read or written: check its space, its quota and its health, then repeat the call';

/**
 * Converts an error of SQLite, or of the system for a full disk, to an error without confidential details. The cause
 * contains the path of a full disk. Returns any other reason unchanged.
 */
export function fromSqliteError(reason: unknown): unknown {
  if (isBusy(reason)) return storeUnavailable({}, { cause: reason });
  if (isDatabaseFull(reason) || isStorageFull(reason)) return storeFailed({ reason: DISK_FULL }, { cause: reason });
  const { success, data } = sqliteError.safeParse(reason);
  if (!success) return reason;
  return storeFailed({ reason: isResult(reason, results.io) ? DISK_FAILED : data.errstr }, { cause: reason });
}
