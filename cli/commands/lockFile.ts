import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { completeFile } from '../../shared/durableFiles.ts';

const BUSY = 5;

/**
 * Locks a file until the lock is disposed of or the process ends. It is the lock of a SQLite file, which the operating
 * system releases when the process ends.
 * @param pidFile the file for the process id
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

/** Reads the id of the process that holds the lock, which may not have written it yet. */
async function readPid(file: string): Promise<string> {
  return existsSync(file) ? readFile(file, 'utf8') : '(starting)';
}
