import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { documentFieldTypes, type FieldName, fieldNames } from '../documentFields.ts';
import { type Connection, connect, isBusy } from './connection.ts';
import { column } from './documents.ts';

const OPEN_TIMEOUT_MILLISECONDS = 5_000;
const PAUSE_MILLISECONDS = 10;

/**
 * Creates the database file with its table, or migrates an older one. Only the file's owner can read it, because it
 * contains password hashes. SQLite gives its journal files the same permissions.
 * @throws Error of SQLite or of the file system
 */
export function prepareDatabaseFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, 'a', 0o600));
  const connection = connect({ file, busyTimeout: OPEN_TIMEOUT_MILLISECONDS });
  try {
    enterWalMode(connection);
    connection.execute('BEGIN IMMEDIATE');
    migrate(connection);
    connection.execute('COMMIT');
  } finally {
    connection.close();
  }
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

const columnRows = z.array(z.tuple([z.string()]));

/** Creates the table, or adds the missing columns to an older one. Requires an open transaction. */
function migrate(connection: Connection): void {
  const columns = fieldNames.map((name) => `, ${columnDefinition(name)}`).join('');
  connection.execute(
    `CREATE TABLE IF NOT EXISTS documents (
       collection TEXT NOT NULL, id TEXT NOT NULL${columns}, PRIMARY KEY (collection, id)
     ) STRICT`,
  );
  const existing = existingColumns(connection);
  for (const name of fieldNames.filter((name) => !existing.has(name))) {
    connection.execute(`ALTER TABLE documents ADD COLUMN ${columnDefinition(name)}`);
  }
  connection.execute(
    `CREATE INDEX IF NOT EXISTS documents_by_partition ON documents (collection, "partition", id)
       WHERE "partition" IS NOT NULL`,
  );
}

function columnDefinition(name: FieldName): string {
  return `${column(name)} ${sqlTypes[documentFieldTypes[name]]}`;
}

function existingColumns(connection: Connection): Set<string> {
  const rows = columnRows.parse(connection.prepare(`SELECT name FROM pragma_table_info('documents')`).all());
  return new Set(rows.map(([name]) => name));
}
