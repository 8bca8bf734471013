import { chmodSync, closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { makeDirectory, OWNER_ONLY } from '../../durableFiles.ts';
import { databaseFormatUnsupported } from '../../errors/errors.ts';
import { documentFieldTypes, storedFieldNames } from '../documentFields.ts';
import { FORMAT, instanceKey, requireInstanceFormat } from '../format.ts';
import { keyFilePath } from '../secrets/keyFile.ts';
import { type KeyRecord, keyRecordKey, keyRecordWrite, parseKeyRecord, requireKeys } from '../secrets/keyRecord.ts';
import type { Keyring } from '../secrets/keyring.ts';
import { type Connection, connect, isBusy } from './connection.ts';
import { applyWrites, column, nextVersion, readMany } from './documents.ts';

const OPEN_TIMEOUT_MILLISECONDS = 5_000;
const PAUSE_MILLISECONDS = 10;

/**
 * Creates the database file, or checks the format and the master key of an existing one, which is not written to. Only the
 * file's owner can read it, because it contains password hashes. SQLite gives its journal files the same permissions.
 * @throws Error of SQLite or of the file system; IdentityError UNAVAILABLE for a file of another format, or a missing or
 * wrong master key
 */
export function prepareDatabaseFile(file: string, keyring: Keyring): void {
  makeDirectory(dirname(file));
  closeSync(openSync(file, 'a', OWNER_ONLY));
  for (const name of [file, `${file}-wal`, `${file}-shm`, keyFilePath(dirname(file))]) protect(name);
  const connection = connect({ file, busyTimeout: OPEN_TIMEOUT_MILLISECONDS });
  try {
    if (isUnused(connection)) {
      enterWalMode(connection);
      connection.execute('BEGIN IMMEDIATE');
      // Another process may have created the tables meanwhile.
      if (isUnused(connection)) createTables(connection, keyring);
      connection.execute('COMMIT');
    }
    checkDatabase(connection, keyring);
    // A restored file is not in WAL mode.
    if (!isInWalMode(connection)) enterWalMode(connection);
  } finally {
    connection.close();
  }
}

// Another process may remove the journal files meanwhile.
function protect(file: string): void {
  const status = statSync(file, { throwIfNoEntry: false });
  if (status !== undefined && (status.mode & 0o777) !== OWNER_ONLY) chmodSync(file, OWNER_ONLY);
}

/**
 * Checks the formats in the file and in the instance's document, and the master keys.
 * @throws IdentityError UNAVAILABLE
 */
export function checkDatabase(connection: Connection, keyring: Keyring): void {
  requireFileFormat(connection);
  const [instance, keys] = readMany(connection, [instanceKey, keyRecordKey], ['body']).documents;
  requireInstanceFormat(instance);
  const record = parseKeyRecord(keys);
  if (record === undefined) throw new Error(`${connection.file} does not name its master key`);
  requireKeys(record, keyring);
}

/** @throws IdentityError UNAVAILABLE for a file of another format */
export function requireFileFormat(connection: Connection): void {
  const format = readFileFormat(connection);
  if (format !== FORMAT) throw databaseFormatUnsupported(format === 0 ? undefined : format, FORMAT);
}

/** Whether no version has written to the file: its tables appear together with their format. */
export function isUnused(connection: Connection): boolean {
  return readFileFormat(connection) === 0 && !hasDocuments(connection);
}

/** Reads the file's format: SQLite's `user_version`, 0 for none. */
function readFileFormat(connection: Connection): number {
  return formatRow.parse(connection.prepare('PRAGMA user_version').get())[0];
}

const formatRow = z.tuple([z.number()]);

function hasDocuments(connection: Connection): boolean {
  return connection.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'documents'`).get() !== undefined;
}

function isInWalMode(connection: Connection): boolean {
  const row: unknown = connection.prepare('PRAGMA journal_mode').get();
  return Array.isArray(row) && row[0] === 'wal';
}

// Here SQLite ignores the busy timeout, to avoid a deadlock between two processes that open the same new file.
function enterWalMode(connection: Connection): void {
  const deadline = performance.now() + OPEN_TIMEOUT_MILLISECONDS;
  for (;;) {
    try {
      connection.execute('PRAGMA journal_mode = WAL');
      return;
    } catch (reason) {
      if (!isBusy(reason) || performance.now() > deadline) throw reason;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MILLISECONDS);
    }
  }
}

const sqlTypes = { string: 'TEXT', boolean: 'INTEGER', integer: 'INTEGER' } as const;

/** Creates the tables, and the record of the master key. Requires an open transaction, so that of two processes only one creates a key. */
function createTables(connection: Connection, keyring: Keyring): void {
  const columns = storedFieldNames.map((name) => `, ${column(name)} ${sqlTypes[documentFieldTypes[name]]}`).join('');
  connection.execute(
    `CREATE TABLE documents (
       collection TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL${columns}, PRIMARY KEY (collection, id)
     ) STRICT;
     CREATE INDEX documents_by_partition ON documents (collection, "partition", id) WHERE "partition" IS NOT NULL;
     CREATE TABLE clock (id INTEGER PRIMARY KEY CHECK (id = 0), value INTEGER NOT NULL) STRICT;
     INSERT INTO clock (id, value) VALUES (0, 0);
     PRAGMA user_version = ${FORMAT}`,
  );
  const record: KeyRecord = { ids: [keyring.newest().id] };
  applyWrites(connection, [keyRecordWrite(record, 'create')], nextVersion(connection));
}
