import { z } from 'zod';
import { documentFieldTypes, type FieldName, fieldNames } from '../documentFields.ts';
import type { Connection } from './connection.ts';

const sqlTypes = { string: 'TEXT', boolean: 'INTEGER', integer: 'INTEGER' } as const;

const columnRows = z.array(z.tuple([z.string()]));

/** A field's column, quoted: some of the names are words of SQL. */
export function column(name: FieldName): string {
  return `"${name}"`;
}

/** Makes the table, or gives that of an older version the columns which it lacks. Needs a transaction. */
export function bringUpToDate(connection: Connection): void {
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
