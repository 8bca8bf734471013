import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { databaseTooNew } from '../../errors/errors.ts';
import { documentFieldTypes, type FieldName, fieldNames } from '../documentFields.ts';
import { FORMAT } from '../format.ts';
import { type Connection, connect, isBusy } from './connection.ts';
import { column } from './documents.ts';
import { migrateDocuments } from './migrateDocuments.ts';

const OPEN_TIMEOUT_MILLISECONDS = 5_000;
const PAUSE_MILLISECONDS = 10;

const OWNER_ONLY = 0o600;

/**
 * Creates the database file, or migrates one of an older format. A current file is not written to. Only the file's owner
 * can read it, because it contains password hashes. SQLite gives its journal files the same permissions.
 * @throws Error of SQLite or of the file system; IdentityError UNAVAILABLE for a file of a newer format
 */
export function prepareDatabaseFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, 'a', OWNER_ONLY));
  for (const suffix of ['', '-wal', '-shm']) protect(`${file}${suffix}`);
  const connection = connect({ file, busyTimeout: OPEN_TIMEOUT_MILLISECONDS });
  try {
    const isCurrent = readFormat(connection) === FORMAT;
    // A restored file is not in WAL mode, whatever its format.
    if (!isInWalMode(connection)) enterWalMode(connection);
    if (isCurrent) return;
    connection.execute('BEGIN IMMEDIATE');
    // Another process may have migrated the file meanwhile.
    if (readFormat(connection) !== FORMAT) migrate(connection);
    connection.execute('COMMIT');
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
  if (format > FORMAT) throw databaseTooNew(format, FORMAT);
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

/** Creates the tables, or gives those of an older format, and their documents, the present form. Requires an open transaction. */
function migrate(connection: Connection): void {
  const isNew = !hasDocuments(connection);
  const from = Math.max(readFormat(connection), FIRST_FORMAT);
  prepareTables(connection);
  if (!isNew) migrateDocuments(connection, from);
  connection.execute(`PRAGMA user_version = ${FORMAT}`);
}

/** Creates the tables, or adds what an older format lacks. */
function prepareTables(connection: Connection): void {
  const columns = fieldNames.map((name) => `, ${columnDefinition(name)}`).join('');
  connection.execute(
    `CREATE TABLE IF NOT EXISTS documents (
       collection TEXT NOT NULL, id TEXT NOT NULL, ${VERSION_COLUMN}${columns}, PRIMARY KEY (collection, id)
     ) STRICT`,
  );
  const existing = existingColumns(connection);
  if (!existing.has('version')) connection.execute(`ALTER TABLE documents ADD COLUMN ${VERSION_COLUMN}`);
  for (const name of fieldNames.filter((name) => !existing.has(name))) {
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

function columnDefinition(name: FieldName): string {
  return `${column(name)} ${sqlTypes[documentFieldTypes[name]]}`;
}

function existingColumns(connection: Connection): Set<string> {
  const rows = columnRows.parse(connection.prepare(`SELECT name FROM pragma_table_info('documents')`).all());
  return new Set(rows.map(([name]) => name));
}
