// Locks an instance among the processes of one machine. Uses SQLite's locks on a file, which the operating system
// releases when a process ends.

import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { createPrivateFile, makeDirectory } from '../../durableFiles.ts';
import { lockFileDamaged, lockFileObstructed } from '../../errors/storeErrors.ts';
import { sqliteCode, systemCode } from '../../systemCode.ts';
import {
  createTake,
  type HeldLock,
  type InstanceLock,
  type LockHolder,
  type LockMode,
  type LockRequest,
} from '../lock/instanceLock.ts';
import { isBusy, isDamaged, withStoreErrors } from './sqliteConnection.ts';

const POLL_MS = 100;

/**
 * No other module may open the locked file, because closing a second descriptor of the file would release the locks of
 * this process.
 */
const LOCK_FILE = 'lock.sqlite';
/**
 * The suffix of the files that describe operations which hold the lock. A process keeps its file locked while it holds
 * the lock, so an unlocked file belongs to a killed process.
 */
const HOLDER = '.holder';

/** SQLite's result code for a missing file. */
const CANNOT_OPEN = 14;

const holderSchema = z.object({ operation: z.string(), caller: z.string(), since: z.string() });

/**
 * Creates the lock of an instance for processes that use the same directory on one machine.
 * @param directory the directory for the lock's files; the first call of `take` creates it
 * @param position returns the position of the newest commit
 */
export function createFileLock(directory: string, position: () => string): InstanceLock {
  return {
    take: createTake((request) => attempt(directory, request), POLL_MS),
    position: async () => position(),
  };
}

async function attempt(
  directory: string,
  { mode, operation, caller }: LockRequest,
): Promise<HeldLock | LockHolder | undefined> {
  makeLockDirectory(directory);
  const lock = withStoreErrors(() => lockFile(join(directory, LOCK_FILE), mode), directory);
  if (lock === undefined) return findHolder(directory);
  try {
    await (mode === 'alone' ? removeLeft(directory) : findHolder(directory));
    const file = join(directory, `${randomUUID()}${HOLDER}`);
    const description = await describeHolder(file, { operation, caller, since: new Date().toISOString() });
    return {
      fence: undefined,
      [Symbol.asyncDispose]: async () => {
        await rm(file, { force: true });
        description.close();
        lock.close();
      },
    };
  } catch (error) {
    lock.close();
    throw error;
  }
}

function makeLockDirectory(directory: string): void {
  try {
    makeDirectory(directory);
  } catch (error) {
    throw systemCode(error) === 'EEXIST'
      ? lockFileObstructed({ path: directory, kind: 'directory' }, { cause: error })
      : error;
  }
}

/**
 * The statements that lock a file until the connection is closed. BEGIN does not lock the file yet, but the following
 * read does.
 */
const lockStatements = { alone: 'BEGIN EXCLUSIVE', shared: 'BEGIN; SELECT count(*) FROM sqlite_schema' };

/**
 * Locks a file, and creates the file if it is missing. Returns undefined if another connection has a conflicting lock.
 * Does not replace a damaged file, because another process may hold a lock on it, and would not notice a new file.
 */
function lockFile(file: string, mode: LockMode): DatabaseSync | undefined {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false)
    throw lockFileObstructed({ path: file, kind: 'file' });
  createPrivateFile(file);
  const database = new DatabaseSync(file);
  try {
    database.exec(`PRAGMA busy_timeout = 0; ${lockStatements[mode]}`);
    return database;
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw isDamaged(error) ? lockFileDamaged({ file }, { cause: error }) : error;
  }
}

/**
 * Writes the description of an operation that holds the lock to a file. The file appears under its name only when it is
 * complete and locked.
 */
async function describeHolder(file: string, holder: LockHolder): Promise<DatabaseSync> {
  const unnamed = `${file}.new`;
  createPrivateFile(unnamed);
  const database = new DatabaseSync(unnamed);
  try {
    withStoreErrors(() => writeHolder(database, holder), dirname(file));
    await rename(unnamed, file);
    return database;
  } catch (error) {
    database.close();
    await rm(unnamed, { force: true });
    throw error;
  }
}

function writeHolder(database: DatabaseSync, { operation, caller, since }: LockHolder): void {
  // Write the file without a journal and without syncing, because it is useless after a crash.
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE holder (operation, caller, since)');
  database.prepare('INSERT INTO holder VALUES (?, ?, ?)').run(operation, caller, since);
  database.exec(lockStatements.shared);
}

/** Returns the description of the operation that acquired the lock last. Removes the files of killed processes. */
async function findHolder(directory: string): Promise<LockHolder | undefined> {
  const holders: LockHolder[] = [];
  const names = await readdir(directory);
  for (const file of names.filter((name) => name.endsWith(HOLDER)).map((name) => join(directory, name))) {
    const holder = withStoreErrors(() => readHolder(file));
    if (holder === undefined) await rm(file, { force: true });
    else if (holder !== 'unreadable') holders.push(holder);
  }
  return holders.sort((a, b) => b.since.localeCompare(a.since))[0];
}

/** Reads a description. Returns undefined if no process keeps its file locked. */
function readHolder(file: string): LockHolder | 'unreadable' | undefined {
  // Do not create a missing file, because the process that held the lock may have removed it.
  const database = openIfThere(file);
  try {
    database?.exec(`PRAGMA busy_timeout = 0; ${lockStatements.alone}`);
    return undefined;
  } catch (error) {
    if (isDamaged(error)) return undefined;
    if (!isBusy(error)) throw error;
    return database && describeLocked(database);
  } finally {
    database?.close();
  }
}

/** The milliseconds for which this process waits while other processes lock the same file to read it. */
const LOOK_MS = 100;

/** Waits for a moment if the file is locked, because other processes may have locked it only to read it. */
function describeLocked(database: DatabaseSync): LockHolder | 'unreadable' {
  try {
    database.exec(`PRAGMA busy_timeout = ${LOOK_MS}`);
    return holderSchema.parse(database.prepare('SELECT operation, caller, since FROM holder').get());
  } catch (error) {
    if (isBusy(error)) return 'unreadable';
    throw error;
  }
}

function openIfThere(file: string): DatabaseSync | undefined {
  const url = pathToFileURL(file);
  url.search = 'mode=rw';
  try {
    return new DatabaseSync(url);
  } catch (error) {
    if (sqliteCode(error) === CANNOT_OPEN) return undefined;
    throw error;
  }
}

/**
 * Removes the files of killed processes. Call it only with the exclusive lock, because then no file can belong to a
 * living process.
 */
async function removeLeft(directory: string): Promise<void> {
  const names = await readdir(directory);
  for (const name of names.filter((name) => name !== LOCK_FILE)) await rm(join(directory, name), { force: true });
}
