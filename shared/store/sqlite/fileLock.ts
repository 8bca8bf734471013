// The lock of an instance in a directory: the locks of a SQLite file, which the system releases when a process ends.

import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { completeFile, makeDirectory } from '../../durableFiles.ts';
import { systemCode } from '../../systemCode.ts';
import {
  createInstanceLock,
  type HeldLock,
  type InstanceLock,
  type LockHolder,
  type LockMode,
  type LockRequest,
} from '../lock/instanceLock.ts';
import { isBusy, withStoreErrors } from './sqliteConnection.ts';

const POLL_MS = 100;

/** The file that only this module opens: closing it otherwise would release this process's locks. */
const LOCK_FILE = 'lock.sqlite';
const HOLDER = '.holder';

const holderSchema = z.object({ operation: z.string(), caller: z.string(), since: z.string() });

/**
 * Creates the lock of an instance, between the processes that use its directory on one machine.
 * @param directory the directory of the lock's files, which is created when the lock is first taken
 * @param position returns the position of the newest commit
 */
export function createFileLock(directory: string, position: () => string): InstanceLock {
  return createInstanceLock((request) => attempt(directory, position, request), POLL_MS);
}

async function attempt(
  directory: string,
  position: () => string,
  request: LockRequest,
): Promise<HeldLock | LockHolder> {
  const database = withStoreErrors(() => lockFile(directory, request.mode));
  if (database === undefined) return readHolder(directory);
  const name = `${randomUUID()}${HOLDER}`;
  const release = async () => {
    await rm(join(directory, name), { force: true });
    database.close();
  };
  try {
    // A process that was killed left its file.
    if (request.mode === 'alone') for (const file of await holderFiles(directory)) await rm(file, { force: true });
    const { operation, caller } = request;
    const holder: LockHolder = { operation, caller, since: new Date().toISOString() };
    await completeFile(join(directory, name), JSON.stringify(holder), 'new');
    return { fence: undefined, position: position(), [Symbol.asyncDispose]: release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Locks the file until the connection is closed; undefined if another connection excludes it. */
function lockFile(directory: string, mode: LockMode): DatabaseSync | undefined {
  makeDirectory(directory);
  const database = new DatabaseSync(join(directory, LOCK_FILE));
  try {
    database.exec('PRAGMA busy_timeout = 0');
    // A read transaction begins with its first read.
    database.exec(mode === 'alone' ? 'BEGIN EXCLUSIVE' : 'BEGIN; SELECT count(*) FROM sqlite_schema');
    return database;
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

/** Reads the holder that began last. A holder that has just taken the lock may not have written its file yet. */
async function readHolder(directory: string): Promise<LockHolder> {
  const holders: LockHolder[] = [];
  for (const file of await holderFiles(directory)) {
    const text = await readIfThere(file);
    if (text !== undefined) holders.push(holderSchema.parse(JSON.parse(text)));
  }
  const [last] = holders.sort((a, b) => b.since.localeCompare(a.since));
  return last ?? { operation: 'an operation', caller: 'another process', since: 'just now' };
}

/** Reads a file, which its holder may have removed meanwhile. */
async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function holderFiles(directory: string): Promise<string[]> {
  const names = await readdir(directory);
  return names.filter((name) => name.endsWith(HOLDER)).map((name) => join(directory, name));
}
