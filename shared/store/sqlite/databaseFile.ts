import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { OWNER_ONLY } from '../../durableFiles.ts';
import { databaseTooNew } from '../../errors/errors.ts';
import { log } from '../../log.ts';
import { documentFieldTypes, type FieldName, storedFieldNames } from '../documentFields.ts';
import { keyFilePath } from '../secrets/keyFile.ts';
import { requireKeys } from '../secrets/keyRecord.ts';
import type { Keyring } from '../secrets/keyring.ts';
import { type Connection, connect, isBusy } from './connection.ts';
import { column, ROW_ID_SQL } from './documents.ts';
import { eraseClearText, readFileKeys, settleFileKeys } from './fileKeys.ts';
import { migrateDocuments } from './migrateDocuments.ts';

/**
 * The format of the files that this version writes. It counts the formats of the documents, and those of the tables since
 * the fourth.
 */
export const FILE_FORMAT = 5;

const OPEN_TIMEOUT_MILLISECONDS = 5_000;
const PAUSE_MILLISECONDS = 10;

/**
 * Creates the database file, or migrates one of an older format. A current file is not written to. Only the file's owner
 * can read it, because it contains password hashes. SQLite gives its journal files the same permissions.
 * @throws Error of SQLite or of the file system; IdentityError UNAVAILABLE for a file of a newer format, or a missing or
 * wrong master key
 */
export function prepareDatabaseFile(file: string, keyring: Keyring): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, 'a', OWNER_ONLY));
  for (const name of [file, `${file}-wal`, `${file}-shm`, keyFilePath(dirname(file))]) protect(name);
  const connection = connect({ file, busyTimeout: OPEN_TIMEOUT_MILLISECONDS });
  try {
    const isCurrent = readFormat(connection) === FILE_FORMAT;
    // A restored file is not in WAL mode, whatever its format.
    if (!isInWalMode(connection)) enterWalMode(connection);
    if (!isCurrent) {
      connection.execute('BEGIN IMMEDIATE');
      // Another process may have migrated the file meanwhile.
      if (readFormat(connection) !== FILE_FORMAT) migrate(connection, keyring);
      connection.execute('COMMIT');
    }
    prepareKeys(connection, keyring);
  } finally {
    connection.close();
  }
}

// Another process may remove the journal files meanwhile.
function protect(file: string): void {
  const status = statSync(file, { throwIfNoEntry: false });
  if (status !== undefined && (status.mode & 0o777) !== OWNER_ONLY) chmodSync(file, OWNER_ONLY);
}

/** The format of files without one. */
const FIRST_FORMAT = 1;

/**
 * Reads the file's format: SQLite's `user_version`. It is 0 in a new file, and in those of the first version.
 * @throws IdentityError UNAVAILABLE for a newer format than this version supports
 */
export function readFormat(connection: Connection): number {
  const [format] = formatRow.parse(connection.prepare('PRAGMA user_version').get());
  if (format > FILE_FORMAT) throw databaseTooNew(format, FILE_FORMAT);
  return format;
}

const formatRow = z.tuple([z.number()]);

function isInWalMode(connection: Connection): boolean {
  const row: unknown = connection.prepare('PRAGMA journal_mode').get();
  return Array.isArray(row) && row[0] === 'wal';
}

/** Whether the file has the table of an instance's documents. */
export function hasDocuments(connection: Connection): boolean {
  return existingColumns(connection).has('collection');
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

const VERSION_COLUMN = 'version INTEGER NOT NULL DEFAULT 0';

const columnRows = z.array(z.tuple([z.string()]));

/**
 * Checks the master keys, and erases what a migration has left in clear. Other processes may prevent that for now: the next
 * opening tries again.
 */
function prepareKeys(connection: Connection, keyring: Keyring): void {
  const keys = readFileKeys(connection);
  if (keys === undefined) throw new Error(`${connection.file} does not name its master key`);
  requireKeys(keys, keyring);
  if (keys.clearTextRemains !== true) return;
  try {
    if (!eraseClearText(connection)) log.clearTextRemains();
  } catch (reason) {
    if (!isBusy(reason)) throw reason;
    log.clearTextRemains();
  }
}

/** Creates the tables, or gives those of an older format, and their documents, the present form. Requires an open transaction. */
function migrate(connection: Connection, keyring: Keyring): void {
  const isNew = !hasDocuments(connection);
  const from = Math.max(readFormat(connection), FIRST_FORMAT);
  prepareTables(connection);
  if (!isNew && from < ROW_IDS_FORMAT) gatherRows(connection);
  const key = settleFileKeys(connection, keyring, !isNew);
  if (!isNew) migrateDocuments(connection, from, key);
  connection.execute(`PRAGMA user_version = ${FILE_FORMAT}`);
}

/** Creates the tables, or adds what an older format lacks. */
function prepareTables(connection: Connection): void {
  const columns = storedFieldNames.map((name) => `, ${columnDefinition(name)}`).join('');
  connection.execute(
    `CREATE TABLE IF NOT EXISTS documents (
       collection TEXT NOT NULL, id TEXT NOT NULL, ${VERSION_COLUMN}${columns}, PRIMARY KEY (collection, id)
     ) STRICT`,
  );
  const existing = existingColumns(connection);
  if (!existing.has('version')) connection.execute(`ALTER TABLE documents ADD COLUMN ${VERSION_COLUMN}`);
  for (const name of storedFieldNames.filter((name) => !existing.has(name))) {
    connection.execute(`ALTER TABLE documents ADD COLUMN ${columnDefinition(name)}`);
  }
  connection.execute(
    `CREATE INDEX IF NOT EXISTS documents_by_partition ON documents (collection, "partition", id)
       WHERE "partition" IS NOT NULL`,
  );
  connection.execute(
    'CREATE TABLE IF NOT EXISTS clock (id INTEGER PRIMARY KEY CHECK (id = 0), value INTEGER NOT NULL) STRICT',
  );
  connection.execute('INSERT INTO clock (id, value) VALUES (0, 0) ON CONFLICT DO NOTHING');
}

/** The first format whose rows have the ids of `toRowId`. */
const ROW_IDS_FORMAT = 5;

/** Gives the rows their ids, and the order of their ids, so that those of one import lie side by side. */
function gatherRows(connection: Connection): void {
  const columns = ['version', ...storedFieldNames.map(column)].join(', ');
  connection.execute('ALTER TABLE documents RENAME TO scattered; DROP INDEX IF EXISTS documents_by_partition');
  prepareTables(connection);
  connection.execute(
    `INSERT INTO documents (collection, id, ${columns})
       SELECT collection, ${ROW_ID_SQL} AS row_id, ${columns} FROM scattered ORDER BY collection, row_id;
     DROP TABLE scattered`,
  );
}

function columnDefinition(name: FieldName): string {
  return `${column(name)} ${sqlTypes[documentFieldTypes[name]]}`;
}

function existingColumns(connection: Connection): Set<string> {
  const rows = columnRows.parse(connection.prepare(`SELECT name FROM pragma_table_info('documents')`).all());
  return new Set(rows.map(([name]) => name));
}
