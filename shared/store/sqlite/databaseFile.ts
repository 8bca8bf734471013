import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { documentFieldTypes, type FieldName, fieldNames } from '../documentFields.ts';
import { type Connection, connect, isBusy } from './connection.ts';
import { column } from './documents.ts';

const OPEN_TIMEOUT_MILLISECONDS = 5_000;
const PAUSE_MILLISECONDS = 10;

/**
 * Makes the database file with its table, or brings an older one up to date. What it makes only its owner may read, since
 * it holds hashes; SQLite gives the files beside it the same permissions.
 * @throws Error of SQLite or of the file system
 */
export function prepareDatabaseFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, 'a', 0o600));
  const connection = connect({ file, busyTimeout: OPEN_TIMEOUT_MILLISECONDS });
  try {
    enterWalMode(connection);
    connection.execute('BEGIN IMMEDIATE');
    bringUpToDate(connection);
    connection.execute('COMMIT');
  } finally {
    connection.close();
  }
}

// SQLite does not wait here for others that open the same new file: two that waited for each other would never end.
function enterWalMode(connection: Connection): void {
  const giveUpAt = performance.now() + OPEN_TIMEOUT_MILLISECONDS;
  for (;;) {
    try {
      connection.execute('PRAGMA journal_mode = WAL');
      return;
    } catch (reason) {
      if (!isBusy(reason) || performance.now() > giveUpAt) throw reason;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MILLISECONDS);
    }
  }
}

const sqlTypes = { string: 'TEXT', boolean: 'INTEGER', integer: 'INTEGER' } as const;

const columnRows = z.array(z.tuple([z.string()]));

/** Makes the table, or gives that of an older version the columns which it lacks. Needs a transaction. */
function bringUpToDate(connection: Connection): void {
  const columns = fieldNames.map((name) => `, ${definition(name)}`).join('');
  connection.execute(
    `CREATE TABLE IF NOT EXISTS documents (
       collection TEXT NOT NULL, id TEXT NOT NULL${columns}, PRIMARY KEY (collection, id)
     ) STRICT`,
  );
  const present = presentColumns(connection);
  for (const name of fieldNames.filter((name) => !present.has(name))) {
    connection.execute(`ALTER TABLE documents ADD COLUMN ${definition(name)}`);
  }
  connection.execute(
    `CREATE INDEX IF NOT EXISTS documents_by_partition ON documents (collection, "partition", id)
       WHERE "partition" IS NOT NULL`,
  );
}

function definition(name: FieldName): string {
  return `${column(name)} ${sqlTypes[documentFieldTypes[name]]}`;
}

function presentColumns(connection: Connection): Set<string> {
  const rows = columnRows.parse(connection.prepare(`SELECT name FROM pragma_table_info('documents')`).all());
  return new Set(rows.map(([name]) => name));
}
