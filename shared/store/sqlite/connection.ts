import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { createSerialQueue } from '../../async.ts';
import { storeFailed, storeUnavailable } from '../../errors/errors.ts';

/** A connection to a database file that prepares each statement once. */
export interface Connection {
  readonly file: string;
  execute(sql: string): void;
  inTransaction(): boolean;
  /** The statement of `sql`, for one run at a time: its rows come as arrays. */
  prepare(sql: string): StatementSync;
  /** As `prepare`, but the caller's own until `release`: for rows that are read bit by bit. */
  borrow(sql: string): StatementSync;
  release(sql: string, statement: StatementSync): void;
  close(): void;
}

/** What a connection does when another process holds a lock: how many milliseconds it blocks this process before it fails. */
export interface ConnectionOptions {
  readonly file: string;
  readonly busyTimeout: number;
}

/**
 * Opens a connection to a database file that exists already.
 * @throws Error of SQLite
 */
export function connect({ file, busyTimeout }: ConnectionOptions): Connection {
  const database = new DatabaseSync(file);
  database.exec(
    `PRAGMA busy_timeout = ${busyTimeout}; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864`,
  );
  const prepared = new Map<string, StatementSync>();
  const idle = new Map<string, StatementSync[]>();
  const make = (sql: string) => {
    const statement = database.prepare(sql);
    statement.setReturnArrays(true);
    return statement;
  };
  return {
    file,
    execute: (sql) => database.exec(sql),
    inTransaction: () => database.isTransaction,
    prepare: (sql) => prepared.get(sql) ?? remember(prepared, sql, make(sql)),
    borrow: (sql) => idle.get(sql)?.pop() ?? make(sql),
    release: (sql, statement) => (idle.get(sql) ?? remember(idle, sql, [])).push(statement),
    close: () => database.close(),
  };
}

function remember<Value>(map: Map<string, Value>, sql: string, value: Value): Value {
  map.set(sql, value);
  return value;
}

const LOCK_TIMEOUT_MILLISECONDS = 5_000;
const LONGEST_PAUSE_MILLISECONDS = 20;

/** The one connection of this process that writes. */
export interface Writer {
  /** Runs `work` in a write transaction, one at a time; what it wrote is committed when it returns, undone when it throws. */
  transaction<Result>(work: (connection: Connection) => Result | Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** Opens the writing connection. Waiting for another process's lock is done here, so SQLite itself must not block. */
export function openWriter(file: string): Writer {
  const connection = connect({ file, busyTimeout: 0 });
  const inTurn = createSerialQueue();
  return {
    transaction: (work) => inTurn(() => transact(connection, work)),
    close: () => inTurn(async () => connection.close()),
  };
}

async function transact<Result>(
  connection: Connection,
  work: (connection: Connection) => Result | Promise<Result>,
): Promise<Result> {
  await lock(connection);
  try {
    const result = await work(connection);
    connection.execute('COMMIT');
    return result;
  } catch (reason) {
    // Of some failures, such as a full disk, SQLite has undone the transaction itself.
    if (connection.inTransaction()) connection.execute('ROLLBACK');
    throw reason;
  }
}

async function lock(connection: Connection): Promise<void> {
  const giveUpAt = performance.now() + LOCK_TIMEOUT_MILLISECONDS;
  for (;;) {
    try {
      connection.execute('BEGIN IMMEDIATE');
      return;
    } catch (reason) {
      if (!isBusy(reason) || performance.now() > giveUpAt) throw reason;
      await setTimeout(1 + Math.random() * LONGEST_PAUSE_MILLISECONDS);
    }
  }
}

const sqliteError = z.object({ code: z.literal('ERR_SQLITE_ERROR'), errcode: z.number(), errstr: z.string() });

const BUSY = 5;
const LOCKED = 6;

/** Whether `reason` says that another connection holds a lock. */
export function isBusy(reason: unknown): boolean {
  const { success, data } = sqliteError.safeParse(reason);
  // The low byte is the error, the others say more about it.
  return success && [BUSY, LOCKED].includes(data.errcode & 0xff);
}

/** An error of SQLite as one that can be shown; anything else as it is. */
export function toStoreError(reason: unknown): unknown {
  if (isBusy(reason)) return storeUnavailable(reason);
  const { success, data } = sqliteError.safeParse(reason);
  return success ? storeFailed(data.errstr, reason) : reason;
}
