import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, linkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { connect, waitForLock } from '../../store/sqlite/connection.ts';
import { openOwnerOnly } from './trailFiles.ts';

/** The lock of a trail between processes. The operating system releases it when a process dies. */
export interface TrailLock {
  /**
   * Does some work while no other process appends, rotates or deletes.
   * @throws Error of SQLite when another process keeps the lock for seconds
   */
  hold<Result>(work: () => Result): Promise<Result>;
  close(): void;
}

const LOCK = 'audit.lock';

/** Opens the lock of a trail. It is a database without tables: Node has no other lock between processes. */
export function openTrailLock(directory: string): TrailLock {
  const file = join(directory, LOCK);
  if (!existsSync(file)) createLock(file);
  const connection = connect({ file, busyTimeout: 0 });
  return {
    async hold(work) {
      await waitForLock(connection);
      try {
        return work();
      } finally {
        // A commit would fail while other processes try to lock.
        connection.execute('ROLLBACK');
      }
    },
    close: () => connection.close(),
  };
}

/** Does one piece of work while no process appends, rotates or deletes. */
export async function holdTrail<Result>(directory: string, work: () => Result): Promise<Result> {
  const lock = openTrailLock(directory);
  try {
    return await lock.hold(work);
  } finally {
    lock.close();
  }
}

/**
 * Creates the database of a lock with its first page, before it gets its name: without the page, each transaction would
 * write it, which a full disk prevents.
 */
function createLock(file: string): void {
  const partial = `${file}.${randomUUID()}`;
  closeSync(openOwnerOnly(partial, 'wx'));
  try {
    const connection = connect({ file: partial, busyTimeout: 0 });
    connection.execute('PRAGMA user_version = 1');
    connection.close();
    linkSync(partial, file);
  } catch (error) {
    // Another process has created it meanwhile.
    if (!existsSync(file)) throw error;
  } finally {
    rmSync(partial, { force: true });
  }
}
