import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { createSerialQueue } from '../../async.ts';
import { storeFailed, storeUnavailable } from '../../errors/errors.ts';
import { type Connection, connect } from './connection.ts';

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
