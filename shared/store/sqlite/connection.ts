import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { createSerialQueue } from '../../async.ts';
import { storeFailed, storeUnavailable } from '../../errors/errors.ts';

/** A connection to a database file. It caches prepared statements. */
export interface Connection {
  readonly file: string;
  execute(sql: string): void;
  inTransaction(): boolean;
  isOpen(): boolean;
  /** Prepares a statement for one run at a time. Its rows are arrays. */
  prepare(sql: string): StatementSync;
  /** Prepares a statement for the caller alone until `release`, so that its rows can be read step by step. */
  borrow(sql: string): StatementSync;
  release(sql: string, statement: StatementSync): void;
  close(): void;
}

/** The options of a connection. */
export interface ConnectionOptions {
  readonly file: string;
  /** The milliseconds for which SQLite blocks this process while another one holds a lock. */
  readonly busyTimeout: number;
}

/** The size to which SQLite shortens a write-ahead log whose content it has moved into the database. */
const KEPT_LOG_BYTES = 32 * 2 ** 20;

/**
 * Opens a connection to an existing database file. What is deleted or overwritten through it leaves nothing in free space.
 * @throws Error of SQLite
 */
export function connect({ file, busyTimeout }: ConnectionOptions): Connection {
  const database = new DatabaseSync(file);
  database.exec(
    `PRAGMA busy_timeout = ${busyTimeout}; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${KEPT_LOG_BYTES};
     PRAGMA secure_delete = ON`,
  );
  const prepared = new Map<string, StatementSync>();
  const idle = new Map<string, StatementSync[]>();
  const prepareArrays = (sql: string) => {
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    return statement;
  };
  return {
    file,
    execute: (sql) => database.exec(sql),
    inTransaction: () => database.isTransaction,
    isOpen: () => database.isOpen,
    prepare: (sql) => prepared.get(sql) ?? remember(prepared, sql, prepareArrays(sql)),
    borrow: (sql) => idle.get(sql)?.pop() ?? prepareArrays(sql),
    release: (sql, statement) => (idle.get(sql) ?? remember(idle, sql, [])).push(statement),
    close: () => database.close(),
  };
}

function remember<Value>(map: Map<string, Value>, sql: string, value: Value): Value {
  map.set(sql, value);
  return value;
}

const LOCK_TIMEOUT_MILLISECONDS = 5_000;
const MAX_PAUSE_MILLISECONDS = 20;

/** This process's only writing connection. */
export interface Writer {
  /** Runs `work` in a write transaction, one at a time. Commits when `work` returns, rolls back when it throws. */
  transaction<Result>(work: (connection: Connection) => Result | Promise<Result>): Promise<Result>;
  /** Moves the write-ahead log into the database and empties it, unless another connection prevents that. */
  emptyLog(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the writing connection. It waits for other processes' locks by timers, so SQLite itself must not block. */
export function openWriter(file: string): Writer {
  const connection = connect({ file, busyTimeout: 0 });
  const enqueue = createSerialQueue();
  return {
    transaction: (work) => enqueue(() => transact(connection, work)),
    emptyLog: () => enqueue(async () => connection.execute('PRAGMA wal_checkpoint(TRUNCATE)')),
    close: () => enqueue(async () => connection.close()),
  };
}

async function transact<Result>(
  connection: Connection,
  work: (connection: Connection) => Result | Promise<Result>,
): Promise<Result> {
  await waitForLock(connection);
  try {
    const result = await work(connection);
    connection.execute('COMMIT');
    return result;
  } catch (reason) {
    // After some errors, such as a full disk, SQLite has already rolled the transaction back.
    if (connection.inTransaction()) connection.execute('ROLLBACK');
    throw reason;
  }
}

/**
 * Begins a write transaction, as soon as no other connection has one.
 * @throws Error of SQLite after some seconds
 */
export async function waitForLock(connection: Connection): Promise<void> {
  const deadline = performance.now() + LOCK_TIMEOUT_MILLISECONDS;
  for (;;) {
    try {
      connection.execute('BEGIN IMMEDIATE');
      return;
    } catch (reason) {
      if (!isBusy(reason) || performance.now() > deadline) throw reason;
      await setTimeout(1 + Math.random() * MAX_PAUSE_MILLISECONDS);
    }
  }
}

const sqliteError = z.object({ code: z.literal('ERR_SQLITE_ERROR'), errcode: z.number(), errstr: z.string() });

const BUSY = 5;
const LOCKED = 6;

/** Whether `reason` is SQLite's error for a lock that another connection holds. */
export function isBusy(reason: unknown): boolean {
  const { success, data } = sqliteError.safeParse(reason);
  // The low byte is the primary result code; the other bytes extend it.
  return success && [BUSY, LOCKED].includes(data.errcode & 0xff);
}

/** Converts an error of SQLite to one that is safe to show; returns any other reason unchanged. */
export function toStoreError(reason: unknown): unknown {
  if (isBusy(reason)) return storeUnavailable(reason);
  const { success, data } = sqliteError.safeParse(reason);
  return success ? storeFailed(data.errstr, reason) : reason;
}
