// SQLite files: creation, checks and copies.

import { accessSync, chmodSync, closeSync, constants, openSync, statSync } from 'node:fs';
import { access, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { completeFile, makeDirectory, OWNER_ONLY } from '../../durableFiles.ts';
import { notInstanceFile } from '../../errors/commandErrors.ts';
import { databaseFormatUnsupported, formatText, storeReadOnly } from '../../errors/storeErrors.ts';
import { log } from '../../log.ts';
import { checkOwn, checkStatus } from '../../ownFiles.ts';
import { systemCode, withFullPath } from '../../systemCode.ts';
import { documentFieldTypes, storedFieldNames } from '../documentFields.ts';
import { FORMAT, instanceKey, newIdWrite, requireInstanceFormat } from '../instance.ts';
import { type KeyRecord, keyRecordKey, keyRecordWrite, parseKeyRecord, requireKeys } from '../secrets/keyRecord.ts';
import { type Keyring, keyFilePath } from '../secrets/keyring.ts';
import { applyWrites, column, nextVersion, selectDocuments } from './documents.ts';
import {
  BUSY_TIMEOUT_MS,
  connectSqlite,
  fromSqliteError,
  isBusy,
  isDamaged,
  type SqliteConnection,
} from './sqliteConnection.ts';
import { CREATE_TRAIL } from './trail.ts';

const OPEN_TIMEOUT_MS = 5_000;
const PAUSE_MS = 10;

/**
 * Creates the database file, or checks the format and the master key of an existing file without writing to it. Only
 * the file's owner can read it, because it contains password hashes. SQLite gives its journal files the same
 * permissions.
 * @throws Error of SQLite or of the file system; IdentityError UNAVAILABLE for a file of another format, or a missing
 * or wrong master key, FAILED_PRECONDITION for a read-only file
 */
export function prepareDatabaseFile(file: string, keyring: Keyring): void {
  makeDirectory(dirname(file));
  openWritable(file);
  const connection = connectSqlite({ file, busyTimeout: OPEN_TIMEOUT_MS });
  try {
    if (isUnused(connection)) {
      enterWalMode(connection);
      connection.execute('BEGIN IMMEDIATE');
      // Another process may have created the tables in the meantime.
      if (isUnused(connection)) createTables(connection, keyring);
      connection.execute('COMMIT');
    }
    checkFormatAndKeys(connection, keyring);
    // A restored file is not in WAL mode.
    if (readPragma(connection, 'journal_mode') !== 'wal') enterWalMode(connection);
  } finally {
    connection.close();
  }
}

/**
 * Requires that this process can write to the file and its directory.
 * @throws IdentityError FAILED_PRECONDITION
 */
function openWritable(file: string): void {
  try {
    protectFiles(file);
    accessSync(dirname(file), constants.W_OK);
    closeSync(openSync(file, 'a', OWNER_ONLY));
  } catch (reason) {
    throw READ_ONLY.includes(systemCode(reason))
      ? storeReadOnly({ directory: dirname(file) }, { cause: reason })
      : reason;
  }
}

const READ_ONLY: readonly string[] = ['EACCES', 'EPERM', 'EROFS'];

/**
 * Checks that no other user could have written the database's files, and makes the files readable only by their owner.
 * Skips missing files.
 * @throws IdentityError PERMISSION_DENIED
 */
export function protectFiles(file: string): void {
  checkOwn(dirname(file), 'data');
  for (const name of [file, `${file}-wal`, `${file}-shm`, keyFilePath(dirname(file))]) protect(name);
}

const OTHERS_READ = 0o044;

// Another process may remove the journal files during the check.
function protect(file: string): void {
  const status = statSync(file, { throwIfNoEntry: false });
  if (status === undefined) return;
  checkStatus(file, 'data', status);
  if ((status.mode & 0o777) === OWNER_ONLY) return;
  chmodSync(file, OWNER_ONLY);
  if ((status.mode & OTHERS_READ) !== 0) log.warn({ file }, 'others could read a file: its mode is now 0600');
}

/**
 * Checks the formats in the file and in the instance's document, and the master keys.
 * @throws IdentityError UNAVAILABLE
 */
function checkFormatAndKeys(connection: SqliteConnection, keyring: Keyring): void {
  requireFileFormat(connection);
  const [instance, keys] = selectDocuments(connection, [instanceKey, keyRecordKey], ['body']).documents;
  requireInstanceFormat(instance);
  const record = parseKeyRecord(keys);
  if (record === undefined) throw new Error(`${connection.file} does not contain the id of its master key`);
  requireKeys(record, keyring);
}

/**
 * Checks the format of the file.
 * @throws IdentityError UNAVAILABLE for another format
 */
export function requireFileFormat(connection: SqliteConnection): void {
  const format = readFileFormat(connection);
  if (format !== FORMAT) throw databaseFormatUnsupported({ format: formatText(format), supported: FORMAT });
}

/**
 * Whether the file has no tables. A transaction creates the tables and sets the format, so a file has both or neither.
 */
function isUnused(connection: SqliteConnection): boolean {
  return readFileFormat(connection) === 0 && !hasDocuments(connection);
}

/** Reads the file's format: SQLite's `user_version`, which is 0 if it was never set. */
function readFileFormat(connection: SqliteConnection): number {
  return z.number().parse(readPragma(connection, 'user_version'));
}

function readPragma(connection: SqliteConnection, name: string): unknown {
  const row: unknown = connection.prepare(`PRAGMA ${name}`).get();
  return Array.isArray(row) ? row[0] : undefined;
}

function hasDocuments(connection: SqliteConnection): boolean {
  return connection.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'documents'`).get() !== undefined;
}

// Retry here: SQLite ignores the busy timeout when it enters WAL mode, to avoid a deadlock between two processes that
// open the same new file.
function enterWalMode(connection: SqliteConnection): void {
  const deadline = performance.now() + OPEN_TIMEOUT_MS;
  for (;;) {
    try {
      connection.execute('PRAGMA journal_mode = WAL');
      return;
    } catch (reason) {
      if (!isBusy(reason) || performance.now() > deadline) throw reason;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}

const sqlTypes = { string: 'TEXT', boolean: 'INTEGER', integer: 'INTEGER' } as const;

/**
 * Creates the tables, and the record of the master key. Requires an open transaction, so that only one of two processes
 * creates a key.
 */
function createTables(connection: SqliteConnection, keyring: Keyring): void {
  const columns = storedFieldNames.map((name) => `, ${column(name)} ${sqlTypes[documentFieldTypes[name]]}`).join('');
  connection.execute(
    `CREATE TABLE documents (
       collection TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL${columns}, PRIMARY KEY (collection, id)
     ) STRICT;
     CREATE INDEX documents_by_partition ON documents (collection, "partition", id) WHERE "partition" IS NOT NULL;
     CREATE TABLE clock (id INTEGER PRIMARY KEY CHECK (id = 0), value INTEGER NOT NULL) STRICT;
     INSERT INTO clock (id, value) VALUES (0, 0);
     ${CREATE_TRAIL};
     PRAGMA user_version = ${FORMAT}`,
  );
  const record: KeyRecord = { ids: [keyring.newest().id] };
  applyWrites(connection, [keyRecordWrite(record, 'create')], nextVersion(connection));
}

export interface CopyOptions {
  /** The keyring, which must contain the keys of the database. */
  readonly keyring: Keyring;
  /** Changes the copy before the copy gets its final name. */
  readonly complete?: (copy: SqliteConnection) => void;
  /** Whether the source is a backup. A log file next to a backup does not belong to the backup, so it is not read. */
  readonly isBackup?: boolean;
  /** Receives a warning for each folder of a killed process that the copy has removed. */
  readonly warn?: (warning: string) => void;
  /** Receives the share of the database that is copied, from 0 to 1. */
  readonly onCopied?: (share: number) => void;
}

/**
 * Copies the present state of a database into a new file, which only its owner can read. Other connections may write to
 * the database during the copy. The copy appears under its name only when it is complete and durable.
 * @throws IdentityError for a file that is not a database of an instance, or has another format or another key, before
 * anything is written; Error of the file system, EEXIST if the name is taken
 */
export async function copyDatabase(source: string, target: string, options: CopyOptions): Promise<void> {
  await access(source);
  const { isBackup = false, warn } = options;
  if (isBackup) await requireNoLog(source);
  const read = isBackup ? `${pathToFileURL(source).href}?immutable=1` : source;
  const write = async (_: unknown, partial: string) => {
    await copyPages(read, partial, options.onCopied);
    makeSelfContained(partial, options);
  };
  try {
    checkSource(read, options.keyring);
    makeDirectory(dirname(target));
    await completeFile(target, write, warn);
  } catch (reason) {
    throw isDamaged(reason) ? notInstanceFile() : fromSqliteError(withFullPath(reason, target));
  }
}

/** The position of the journal version in a database's header: 2 if the database has a log file, otherwise 1. */
const WRITE_VERSION = 18;

async function requireNoLog(file: string): Promise<void> {
  await using handle = await open(file);
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, WRITE_VERSION);
  if (buffer[0] === 2) throw notInstanceFile();
}

function checkSource(file: string, keyring: Keyring): void {
  const connection = connectSqlite({ file, readOnly: true });
  try {
    if (isUnused(connection)) throw notInstanceFile();
    checkFormatAndKeys(connection, keyring);
  } finally {
    connection.close();
  }
}

async function copyPages(source: string, target: string, onCopied: CopyOptions['onCopied']): Promise<void> {
  using database = new DatabaseSync(source, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  // Without a read transaction, each commit of another connection would restart the copy.
  database.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
  await backup(database, target, {
    progress: ({ totalPages, remainingPages }) => onCopied?.(1 - remainingPages / totalPages),
  });
}

/** Converts a copy to a single file without a log, and checks it. */
function makeSelfContained(file: string, { complete }: CopyOptions): void {
  const connection = connectSqlite({ file, busyTimeout: BUSY_TIMEOUT_MS });
  try {
    if (readPragma(connection, 'quick_check(1)') !== 'ok') throw notInstanceFile();
    connection.execute('PRAGMA journal_mode = DELETE');
    complete?.(connection);
  } finally {
    connection.close();
  }
}

/** Gives a copied instance a new id. */
export function makeOtherInstance(copy: SqliteConnection): void {
  const [instance] = selectDocuments(copy, [instanceKey], ['body']).documents;
  if (instance !== undefined) applyWrites(copy, [newIdWrite(instance)], nextVersion(copy));
}
