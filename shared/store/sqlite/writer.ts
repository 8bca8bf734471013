// Writes to a SQLite file with a single connection, and groups small changes.

import { setImmediate } from 'node:timers/promises';
import { createSerialQueue } from '../../async.ts';
import { log } from '../../log.ts';
import { withFullPath } from '../../systemCode.ts';
import { yieldToEventLoop } from '../../turns.ts';
import { inWriteTransaction, type SqliteConnection } from './sqliteConnection.ts';

/** A change within an open transaction. Written documents receive the transaction's version. */
export type Change = (connection: SqliteConnection, version: number) => void;

/** This process's only writing connection. */
export interface Writer {
  /**
   * Applies a change in a transaction. Simultaneous small changes share a transaction, because a commit takes longer
   * than the changes. If a change throws, only this change is rolled back. A failed change also settles only after the
   * commit, because it may have read what another change of the transaction wrote. If the commit fails, all changes of
   * the transaction fail.
   */
  apply(change: Change, size: 'small' | 'bulk'): Promise<void>;
  /** Runs work between two transactions of this process. */
  between(work: () => Promise<unknown>): Promise<unknown>;
  /** Waits until all changes so far are settled. */
  settled(): Promise<void>;
}

/** Functions that run around each transaction. */
export interface WriterHooks {
  /** Returns the version of the transaction's writes; if it throws, all changes of the transaction fail. */
  onBegin(): number;
  onCommit(): void;
  /** Waits until all commits so far are on the disk. */
  sync(): Promise<void>;
}

/** The maximum number of changes in a group, which limits how long a group occupies the event loop. */
const MAX_GROUP = 64;

interface Member {
  readonly change: Change;
  readonly settled: PromiseWithResolvers<void>;
}

/**
 * Creates the writer of a connection, which no other code may use to write. The writer waits for other processes' locks
 * with timers, so that SQLite does not block this process.
 */
export function createWriter(connection: SqliteConnection, hooks: WriterHooks): Writer {
  // SQLite would sync each commit on the main thread and block it, so `sync` makes commits durable instead.
  connection.execute('PRAGMA synchronous = NORMAL');
  const enqueue = createSerialQueue();
  let waiting: Member[] = [];
  const unsettled = new Set<Promise<void>>();
  const commit = async (takeGroup: () => readonly Member[]) => {
    const outcomes = await enqueue(() => commitGroup(connection, hooks, takeGroup()));
    // Wait for the sync outside the queue, so that the next changes can be committed in the meantime.
    const unsynced = await hooks.sync().then(() => undefined, toFailure);
    for (const { settled, failure } of outcomes) settle(settled, unsynced ?? failure);
  };
  const takeWaiting = () => {
    const group = waiting.slice(0, MAX_GROUP);
    waiting = waiting.slice(MAX_GROUP);
    if (waiting.length > 0) void commitWaiting();
    return group;
  };
  const commitWaiting = async () => {
    // All changes that arrive in this turn of the event loop share the transaction.
    await setImmediate();
    await commit(takeWaiting);
  };
  const commitAlone = async (member: Member) => {
    await yieldToEventLoop();
    await commit(() => [member]);
  };
  return {
    apply: (change, size) => {
      const settled = Promise.withResolvers<void>();
      const member = { change, settled };
      unsettled.add(settled.promise);
      if (size === 'bulk') void commitAlone(member);
      else if (waiting.push(member) === 1) void commitWaiting();
      const named = settled.promise.catch((reason: unknown) => {
        throw withFullPath(reason, connection.file);
      });
      return named.finally(() => unsettled.delete(settled.promise));
    },
    between: enqueue,
    settled: async () => void (await Promise.allSettled(unsettled)),
  };
}

interface Failure {
  readonly reason: unknown;
}

const toFailure = (reason: unknown): Failure => ({ reason });

function settle({ resolve, reject }: PromiseWithResolvers<void>, failure: Failure | undefined): void {
  if (failure === undefined) resolve();
  else reject(failure.reason);
}

/** A change that was applied and committed, or that failed. The commit may not be on the disk yet. */
interface Outcome {
  readonly settled: PromiseWithResolvers<void>;
  readonly failure: Failure | undefined;
}

/** Commits a group of changes. Never rejects. */
async function commitGroup(
  connection: SqliteConnection,
  hooks: WriterHooks,
  group: readonly Member[],
): Promise<readonly Outcome[]> {
  try {
    const outcomes = await inWriteTransaction(connection, () => {
      const version = hooks.onBegin();
      // A single change, such as a bulk change, needs no savepoint. A savepoint would copy every changed page.
      return group.map(({ change, settled }) => ({
        settled,
        failure:
          group.length === 1
            ? void change(connection, version)
            : applyInSavepoint(connection, () => change(connection, version)),
      }));
    });
    reportCommit(hooks);
    return outcomes;
  } catch (reason) {
    return group.map(({ settled }) => ({ settled, failure: { reason } }));
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
 * Applies one of several changes. If the change fails, rolls back this change only.
 * @returns the error if the change failed
 * @throws Error of SQLite that has ended the transaction
 */
function applyInSavepoint(connection: SqliteConnection, change: () => void): Failure | undefined {
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
