// The writing connection to a SQLite file. It groups small changes.

import { setImmediate } from 'node:timers/promises';
import { createSerialQueue } from '../../async.ts';
import { log } from '../../log.ts';
import { withFullPath } from '../../systemCode.ts';
import { yieldToEventLoop } from '../../turns.ts';
import { connectSqlite, type SqliteConnection, waitForLock } from './sqliteConnection.ts';

/** A change within an open transaction. Written documents get the transaction's version. */
export type Change = (connection: SqliteConnection, version: number) => void;

/** This process's only writing connection. */
export interface Writer {
  /**
   * Applies a change in a transaction. Small changes at the same time share a transaction, because a commit takes
   * longer than the changes. If a change throws, only this change is rolled back. Settles after the commit even if the
   * change failed, because it may have read another change of the transaction. If the commit fails, all of its changes
   * fail.
   */
  apply(change: Change, size: 'small' | 'bulk'): Promise<void>;
  /** Runs work between two transactions of this process. */
  between(work: () => Promise<unknown>): Promise<unknown>;
  close(): Promise<void>;
}

/** Functions that run around each transaction. */
export interface WriterHooks {
  /** Returns the version of the transaction's writes; if it throws, all changes of the transaction fail. */
  onBegin(connection: SqliteConnection): number;
  onCommit(): void;
  /** Waits until all commits so far are on the disk. */
  sync(): Promise<void>;
}

/** The maximum number of changes in a group, to limit the time for which it occupies the event loop. */
const MAX_GROUP = 64;

interface Member {
  readonly change: Change;
  readonly settled: PromiseWithResolvers<void>;
}

/**
 * Opens the writing connection. It waits for other processes' locks with timers, so that SQLite does not block this
 * process.
 */
export function openWriter(file: string, hooks: WriterHooks): Writer {
  const connection = connectSqlite({ file, busyTimeout: 0 });
  const enqueue = createSerialQueue();
  let waiting: Member[] = [];
  const unsettled = new Set<Promise<void>>();
  const commitWaiting = async () => {
    // All changes that arrive in this turn of the event loop share the transaction.
    await setImmediate();
    const settle = await enqueue(() => {
      const group = waiting.slice(0, MAX_GROUP);
      waiting = waiting.slice(MAX_GROUP);
      if (waiting.length > 0) void commitWaiting();
      return commitGroup(connection, hooks, group, 'FULL');
    });
    settle();
  };
  const commitAlone = async (member: Member) => {
    await yieldToEventLoop();
    const settle = await enqueue(() => commitGroup(connection, hooks, [member], 'NORMAL'));
    // Wait outside the queue, so that other changes can be committed at the same time.
    await hooks.sync().then(settle, member.settled.reject);
  };
  return {
    apply: (change, size) => {
      const settled = Promise.withResolvers<void>();
      const member = { change, settled };
      unsettled.add(settled.promise);
      if (size === 'bulk') void commitAlone(member);
      else if (waiting.push(member) === 1) void commitWaiting();
      const named = settled.promise.catch((reason: unknown) => {
        throw withFullPath(reason, file);
      });
      return named.finally(() => unsettled.delete(settled.promise));
    },
    between: enqueue,
    close: async () => {
      await Promise.allSettled(unsettled);
      await enqueue(async () => connection.close());
    },
  };
}

/**
 * Commits a group of changes. Never rejects.
 * @param durability `FULL` waits until the commit is on the disk; `NORMAL` leaves that to `sync`
 * @returns a function that settles the members
 */
async function commitGroup(
  connection: SqliteConnection,
  hooks: WriterHooks,
  group: readonly Member[],
  durability: 'FULL' | 'NORMAL',
): Promise<() => void> {
  try {
    connection.execute(`PRAGMA synchronous = ${durability}`);
    await waitForLock(connection);
    const version = hooks.onBegin(connection);
    // A single change, such as a bulk change, needs no savepoint. A savepoint would copy every changed page.
    const failures = group.map(({ change }) =>
      group.length === 1
        ? void change(connection, version)
        : applyInSavepoint(connection, () => change(connection, version)),
    );
    connection.run('COMMIT');
    reportCommit(hooks);
    return () => {
      for (const [index, { settled }] of group.entries()) {
        const failure = failures[index];
        if (failure === undefined) settled.resolve();
        else settled.reject(failure.reason);
      }
    };
  } catch (reason) {
    // After some errors, such as a full disk, SQLite has already rolled the transaction back.
    if (connection.inTransaction()) connection.run('ROLLBACK');
    return () => {
      for (const { settled } of group) settled.reject(reason);
    };
  }
}

/**
 * Calls the hook after the commit. If the hook fails, the committed changes still succeed, and the next commit calls
 * the hook again.
 */
function reportCommit(hooks: WriterHooks): void {
  try {
    hooks.onCommit();
  } catch (error) {
    log.warn({ stack_trace: error }, 'the write-ahead log was not moved into the database');
  }
}

/**
 * Applies one of several changes, or rolls it back.
 * @returns the error if it failed
 * @throws Error of SQLite that has ended the transaction
 */
function applyInSavepoint(connection: SqliteConnection, change: () => void): { readonly reason: unknown } | undefined {
  connection.run('SAVEPOINT change');
  try {
    change();
    return undefined;
  } catch (reason) {
    if (!connection.inTransaction()) throw reason;
    connection.run('ROLLBACK TO change');
    return { reason };
  } finally {
    if (connection.inTransaction()) connection.run('RELEASE change');
  }
}
