// Locks an instance in a directory with the locks of a SQLite file, which the operating system releases when a process
// ends.

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
 * The file of the lock. Only this module may open this file, because closing another descriptor of the file would
 * release this process's locks.
 */
const LOCK_FILE = 'lock.sqlite';
/**
 * The suffix of files that describe holders. A holder keeps its file locked; files of killed processes are not locked.
 */
const HOLDER = '.holder';

/** SQLite's code for a missing file. */
const CANNOT_OPEN = 14;

const holderSchema = z.object({ operation: z.string(), caller: z.string(), since: z.string() });

/**
 * Creates the lock of an instance for the processes that use its directory on one machine.
 * @param directory the directory of the lock's files, which is created when the lock is first taken
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

/** The statements that lock a file until its connection is closed. BEGIN alone locks nothing; the first read does. */
const lockStatements = { alone: 'BEGIN EXCLUSIVE', shared: 'BEGIN; SELECT count(*) FROM sqlite_schema' };

/**
 * Locks a file, and creates it if it is missing. Returns undefined if another connection's lock excludes this one. Does
 * not replace a damaged file: another process may hold the lock of the old file, and would not notice the new file.
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

/** Creates a file that describes a holder. The file gets its name only when it is complete and locked. */
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

/** Writes the description of a holder, and keeps the file locked. */
function writeHolder(database: DatabaseSync, { operation, caller, since }: LockHolder): void {
  // Write without a journal and without syncing, because the file is not needed after a crash.
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; CREATE TABLE holder (operation, caller, since)');
  database.prepare('INSERT INTO holder VALUES (?, ?, ?)').run(operation, caller, since);
  database.exec(lockStatements.shared);
}

/** Finds the most recent holder, and removes the files of killed processes. */
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

/** Reads the holder's description in a file; undefined if no process keeps the file locked. */
function readHolder(file: string): LockHolder | 'unreadable' | undefined {
  // Do not create the file, because its holder may just have removed it.
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

/** How long other processes may keep a holder's file locked while they read it, in milliseconds. */
const LOOK_MS = 100;

/**
 * Reads the description in a locked file. Waits for a moment, because another process may also lock the file to read
 * it.
 */
function describeLocked(database: DatabaseSync): LockHolder | 'unreadable' {
  try {
    database.exec(`PRAGMA busy_timeout = ${LOOK_MS}`);
    return holderSchema.parse(database.prepare('SELECT operation, caller, since FROM holder').get());
  } catch (error) {
    if (isBusy(error)) return 'unreadable';
    throw error;
  }
}

/** Opens an existing file; undefined if it is missing. */
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

/** Removes the files of killed processes. Requires the exclusive lock: then no other process can have such a file. */
async function removeLeft(directory: string): Promise<void> {
  const names = await readdir(directory);
  for (const name of names.filter((name) => name !== LOCK_FILE)) await rm(join(directory, name), { force: true });
}
