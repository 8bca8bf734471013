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
 * Creates the database file if it is missing. Otherwise checks the file's format and master key, without writing to the
 * file. Only the owner can read the file, because it contains password hashes. SQLite gives its journal files the same
 * permissions.
 * @throws IdentityError UNAVAILABLE if the file has another format, or its master key is missing or wrong;
 * FAILED_PRECONDITION if the file is read-only. Error if SQLite or the file system refuses an operation
 */
export function prepareDatabaseFile(file: string, keyring: Keyring): void {
  makeDirectory(dirname(file));
  openWritable(file);
  const connection = connectSqlite({ file, busyTimeout: OPEN_TIMEOUT_MS });
  try {
    if (isUnused(connection)) {
      enterWalMode(connection);
      connection.execute('BEGIN IMMEDIATE');
      // Check again within the transaction, because another process may have created the tables since.
      if (isUnused(connection)) createTables(connection, keyring);
      connection.execute('COMMIT');
    }
    checkFormatAndKeys(connection, keyring);
    // Check the mode, because a file that was restored from a backup is not in WAL mode.
    if (readPragma(connection, 'journal_mode') !== 'wal') enterWalMode(connection);
  } finally {
    connection.close();
  }
}

/** @throws IdentityError FAILED_PRECONDITION if this process cannot write to the file or its directory */
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
 * Requires that no other user can have changed the database's files, and makes these files readable only by their
 * owner. Ignores missing files.
 * @throws IdentityError PERMISSION_DENIED if another user could have changed a file
 */
export function protectFiles(file: string): void {
  checkOwn(dirname(file), 'data');
  for (const name of [file, `${file}-wal`, `${file}-shm`, keyFilePath(dirname(file))]) protect(name);
}

const OTHERS_READ = 0o044;

// A journal file may be missing, because another process can remove it at any time.
function protect(file: string): void {
  const status = statSync(file, { throwIfNoEntry: false });
  if (status === undefined) return;
  checkStatus(file, 'data', status);
  if ((status.mode & 0o777) === OWNER_ONLY) return;
  chmodSync(file, OWNER_ONLY);
  if ((status.mode & OTHERS_READ) !== 0)
    log.warn({ file }, 'other users could read a file of the database: the mode of the file is now 0600');
}

/**
 * @throws IdentityError UNAVAILABLE if the file or the instance's document has another format, or if a master key
 * is missing or wrong
 */
function checkFormatAndKeys(connection: SqliteConnection, keyring: Keyring): void {
  requireFileFormat(connection);
  const [instance, keys] = selectDocuments(connection, [instanceKey, keyRecordKey], ['body']).documents;
  requireInstanceFormat(instance);
  const record = parseKeyRecord(keys);
  if (record === undefined) throw new Error(`${connection.file} does not contain the id of its master key`);
  requireKeys(record, keyring);
}

/** @throws IdentityError UNAVAILABLE if the file has another format */
export function requireFileFormat(connection: SqliteConnection): void {
  const format = readFileFormat(connection);
  if (format !== FORMAT) throw databaseFormatUnsupported({ format: formatText(format), supported: FORMAT });
}

/**
 * Returns whether a file has no tables yet. One transaction creates the tables and sets the format, so a file has both
 * or neither.
 */
function isUnused(connection: SqliteConnection): boolean {
  return readFileFormat(connection) === 0 && !hasDocuments(connection);
}

/** SQLite's `user_version` contains the format. It is 0 if it was never set. */
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

// Retry, because SQLite ignores the busy timeout when it enters WAL mode. It does so to avoid a deadlock if two
// processes open the same new file.
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

/** Call this function in a transaction. Otherwise, several processes could each create a key. */
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
  readonly keyring: Keyring;
  readonly complete?: (copy: SqliteConnection) => void;
  /** True if the source is a backup. A backup has no log, so the copy then ignores any log file next to it. */
  readonly isBackup?: boolean;
  readonly warn?: (warning: string) => void;
  /** Called during the copy with the share of the database that is already copied, from 0 to 1. */
  readonly onCopied?: (share: number) => void;
}

/**
 * Copies the present state of a database to a new file, which only its owner can read. Other connections may write to
 * the database during the copy. The copy appears under its name only when it is complete and durable.
 * @throws IdentityError if the source is not the database of an instance, or has another format or another key; this is
 * checked before anything is written. Error EEXIST if the target exists; another error if the file system refuses an
 * operation
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

/**
 * The offset of a byte in the header of a SQLite file. The byte at this offset is 2 if the database uses a write-ahead
 * log, otherwise 1.
 */
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
  // Begin a read transaction, because the copy would otherwise start again after each commit of another connection.
  database.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
  await backup(database, target, {
    progress: ({ totalPages, remainingPages }) => onCopied?.(1 - remainingPages / totalPages),
  });
}

/** Checks a copy, and converts it to a file that needs no write-ahead log. */
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

/** Gives the instance in a copied database another id. */
export function makeOtherInstance(copy: SqliteConnection): void {
  const [instance] = selectDocuments(copy, [instanceKey], ['body']).documents;
  if (instance !== undefined) applyWrites(copy, [newIdWrite(instance)], nextVersion(copy));
}
