import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { completeFile } from '../shared/durableFiles.ts';

const BUSY = 5;

/**
 * Locks a file until the lock is disposed of, or the process ends: the operating system releases the lock of SQLite's
 * file with the process, so a dead one's lock is free.
 * @param pidFile the file for the id of the process
 * @returns the lock, or the id of the process that holds it
 */
export async function lockFile(path: string, pidFile: string): Promise<Disposable | { readonly holder: string }> {
  const database = new DatabaseSync(path);
  try {
    database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
    await completeFile(pidFile, String(process.pid), 'replacing');
  } catch (error) {
    database.close();
    const isBusy = error instanceof Error && 'errcode' in error && error.errcode === BUSY;
    if (isBusy) return { holder: await readPid(pidFile) };
    throw error;
  }
  return { [Symbol.dispose]: () => database.close() };
}

/** The process may not yet have written its id. */
async function readPid(file: string): Promise<string> {
  return existsSync(file) ? readFile(file, 'utf8') : '(starting)';
}
