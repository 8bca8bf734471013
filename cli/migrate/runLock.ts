import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { OWNER_ONLY } from '../../shared/durableFiles.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { migrationRunning } from '../../shared/errors/migrationErrors.ts';
import { systemCode } from '../../shared/systemCode.ts';

const BUSY = 5;

/**
 * Locks a run directory until the lock is disposed of, or the process ends: the operating system releases the lock of
 * SQLite's file with the process, so a dead one's lock is free.
 * @throws IdentityError ABORTED while another process holds it
 */
export async function lockRunDirectory(directory: string): Promise<Disposable> {
  const pidFile = join(directory, 'pid');
  const database = new DatabaseSync(join(directory, 'lock'));
  try {
    database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    const isBusy = error instanceof Error && 'errcode' in error && error.errcode === BUSY;
    throw isBusy ? migrationRunning(directory, await readPid(pidFile)) : error;
  }
  await writeFile(pidFile, String(process.pid), { mode: OWNER_ONLY });
  return { [Symbol.dispose]: () => database.close() };
}

/** Returns the process that works on a migration; undefined if none does. */
export async function findWorker(directory: string): Promise<string | undefined> {
  try {
    using _lock = await lockRunDirectory(directory);
    return undefined;
  } catch (error) {
    if (error instanceof IdentityError && error.code === 'ABORTED') return readPid(join(directory, 'pid'));
    throw error;
  }
}

/** The process may not yet have written its id. */
async function readPid(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return '(starting)';
    throw error;
  });
}
