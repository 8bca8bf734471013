import { setTimeout } from 'node:timers/promises';
import { createTurns } from '../turns.ts';
import { type Connection, connect } from './connection.ts';
import { isBusy } from './toStoreError.ts';

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
  const inTurn = createTurns();
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
