import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { replaceFile } from '../../shared/durableFiles.ts';
import { lockForProcess } from '../../shared/processLock.ts';

/**
 * Locks a file until the lock is disposed of or the process ends.
 * @param pidFile the file for the process id
 * @returns the lock, or the id of the process that holds it
 */
export async function lockFile(path: string, pidFile: string): Promise<Disposable | { readonly holder: string }> {
  const lock = lockForProcess(path);
  if (lock === undefined) return { holder: await readPid(pidFile) };
  try {
    await replaceFile(pidFile, String(process.pid));
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
  return lock;
}

/** Reads the id of the process that holds the lock, which may not have written it yet. */
async function readPid(file: string): Promise<string> {
  return existsSync(file) ? readFile(file, 'utf8') : '(starting)';
}
