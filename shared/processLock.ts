import { DatabaseSync } from 'node:sqlite';
import { sqliteCode } from './systemCode.ts';

const BUSY = 5;

/**
 * Locks a file until the returned object is disposed of or the process ends. Uses SQLite's lock on the file, which the
 * operating system releases at the end of the process.
 * @returns undefined if the file is already locked
 */
export function lockForProcess(path: string): Disposable | undefined {
  const database = new DatabaseSync(path);
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE');
    return { [Symbol.dispose]: () => database.close() };
  } catch (error) {
    database.close();
    if (sqliteCode(error) === BUSY) return undefined;
    throw error;
  }
}
