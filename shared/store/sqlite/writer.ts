import { setImmediate } from 'node:timers/promises';
import { createSerialQueue } from '../../async.ts';
import { log } from '../../log.ts';
import { withFullPath } from '../../systemCode.ts';
import { yieldToEventLoop } from '../../turns.ts';
import { inWriteTransaction, type SqliteConnection } from './sqliteConnection.ts';

/** Changes documents in an open transaction. The documents that it writes get the version of the transaction. */
export type Change = (connection: SqliteConnection, version: number) => void;

/** The only object in this process that writes to the database. */
export interface Writer {
  /**
   * Applies a change in a transaction. Small changes that arrive together share a transaction, because a commit takes
   * longer than the changes. If a change throws, only its own writes are rolled back. The promise of a failed change
   * also settles only after the commit, because the change may have read what another change of the transaction wrote.
   * If the commit fails, all changes of the transaction fail.
   */
  apply(change: Change, size: 'small' | 'bulk'): Promise<void>;
  /** Runs work while this process has no open write transaction. */
  between(work: () => Promise<unknown>): Promise<unknown>;
  settled(): Promise<void>;
}

export interface WriterHooks {
  /**
   * Called at the start of a transaction. Returns the version of the transaction. If it throws, all changes of the
   * transaction fail.
   */
  onBegin(): number;
  onCommit(): void;
  /** Resolves when all commits so far are on the disk. */
  sync(): Promise<void>;
}

/** The maximum number of changes in a transaction, because a transaction blocks the event loop. */
const MAX_GROUP = 64;

interface Member {
  readonly change: Change;
  readonly settled: PromiseWithResolvers<void>;
}

/**
 * Creates the writer of a database. No other code may write through this connection. If another process holds a lock,
 * the writer waits with timers, because SQLite's own wait would block this process.
 */
export function createWriter(connection: SqliteConnection, hooks: WriterHooks): Writer {
  // SQLite would block the main thread to sync each commit. The hook `sync` syncs commits instead.
  connection.execute('PRAGMA synchronous = NORMAL');
  const enqueue = createSerialQueue();
  let waiting: Member[] = [];
  const unsettled = new Set<Promise<void>>();
  const commit = async (takeGroup: () => readonly Member[]) => {
    const outcomes = await enqueue(() => commitGroup(connection, hooks, takeGroup()));
    // Await the sync outside the queue, so that the next transaction can run in the meantime.
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
    // Wait for the end of this turn of the event loop, because all changes that arrive in this turn share the
    // transaction.
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

/** A change whose transaction was committed or has failed. The commit may not be on the disk yet. */
interface Outcome {
  readonly settled: PromiseWithResolvers<void>;
  readonly failure: Failure | undefined;
}

/** Commits changes in one transaction. Never rejects, because the result contains the failures. */
async function commitGroup(
  connection: SqliteConnection,
  hooks: WriterHooks,
  group: readonly Member[],
): Promise<readonly Outcome[]> {
  try {
    const outcomes = await inWriteTransaction(connection, () => {
      const version = hooks.onBegin();
      // Use no savepoint for a single change, because SQLite would copy every changed page. A bulk change is always
      // single.
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
 * Calls `onCommit`. Only logs an error of `onCommit`, because the changes are already committed, and the next commit
 * calls `onCommit` again.
 */
function reportCommit(hooks: WriterHooks): void {
  try {
    hooks.onCommit();
  } catch (error) {
    log.warn({ stack_trace: error }, 'the write-ahead log was not moved into the database');
  }
}

/**
 * Applies one of several changes in a transaction. If the change fails, rolls back only its own writes.
 * @returns the failure of the change, if any
 * @throws Error of SQLite that has ended the whole transaction
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
