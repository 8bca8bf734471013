// While a server serves a directory, this lock prevents another server from starting there. Commands do not need
// the lock.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createPrivateFile, replaceFile } from '../durableFiles.ts';
import { instanceServed } from '../errors/commandErrors.ts';
import { lockForProcess } from '../processLock.ts';
import { systemCode } from '../systemCode.ts';
import type { StoreLocation } from './openStore.ts';

/**
 * Locks the directory of an embedded database for a server, until the returned object is disposed of or the process
 * ends. If the disk is full or the directory is read-only, no lock can be created, and the server starts without a
 * lock.
 * @returns undefined if no lock was created, for example because the database is Cloud Firestore
 * @throws IdentityError INSTANCE_SERVED if another process serves the directory
 */
export async function lockServedDirectory({ directory }: StoreLocation): Promise<Disposable | undefined> {
  if (directory === undefined) return undefined;
  const pidFile = join(directory, 'serve.pid');
  let lock: Disposable | undefined;
  try {
    const file = join(directory, 'serve.lock');
    createPrivateFile(file);
    lock = lockForProcess(file);
  } catch {
    return undefined;
  }
  if (lock === undefined) throw instanceServed({ directory, holder: await readHolder(pidFile) });
  try {
    await replaceFile(pidFile, String(process.pid));
    return lock;
  } catch {
    lock[Symbol.dispose]();
    return undefined;
  }
}

/** Describes the process that holds the lock. This process may not have written its id yet. */
async function readHolder(file: string): Promise<string> {
  try {
    return `process ${await readFile(file, 'utf8')}`;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 'another process';
    throw error;
  }
}
