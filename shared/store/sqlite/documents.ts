import { z } from 'zod';
import { documentFieldTypes, type FieldName, fieldNames, type GrowingDocument, setField } from '../documentFields.ts';
import { type DocumentKey, type StoredDocument, type Write, WriteConflictError } from '../store.ts';
import type { Connection } from './connection.ts';

/** A field's column, quoted: some of the names are words of SQL. */
export function column(name: FieldName): string {
  return `"${name}"`;
}

const idColumn = z.string();

/** The document of a row: its id, then the fields in the order of `fields`. */
export function toDocument(row: readonly unknown[], fields: readonly FieldName[]): StoredDocument {
  const document: GrowingDocument = { id: typeof row[0] === 'string' ? row[0] : idColumn.parse(row[0]) };
  for (const [index, name] of fields.entries()) {
    const value = row[index + 1];
    if (value !== null) setField(document, name, documentFieldTypes[name] === 'boolean' ? value !== 0 : value);
  }
  return document;
}

/** The value of a field as SQLite takes it. */
function toColumn(value: string | number | boolean | null | undefined): string | number | null {
  return typeof value === 'boolean' ? Number(value) : (value ?? null);
}

/** The documents of `keys` in their order, `undefined` where there is none. */
export function readMany(
  connection: Connection,
  keys: readonly DocumentKey[],
  fields: readonly FieldName[] = fieldNames,
): (StoredDocument | undefined)[] {
  const columns = ['id', ...fields.map(column)].join(', ');
  const statement = connection.prepare(`SELECT ${columns} FROM documents WHERE collection = ? AND id = ?`);
  return keys.map(({ collection, id }) => {
    const row: unknown = statement.get(collection, id);
    return Array.isArray(row) ? toDocument(row, fields) : undefined;
  });
}

const INSERT = `INSERT INTO documents (collection, id, ${fieldNames.map(column).join(', ')})
  VALUES (?, ?${', ?'.repeat(fieldNames.length)}) ON CONFLICT DO NOTHING`;
const DELETE = 'DELETE FROM documents WHERE collection = ? AND id = ?';

/**
 * Applies writes in their order, within the transaction that the connection is in.
 * @throws WriteConflict at the first whose precondition does not hold; those before it are applied
 */
export function applyWrites(connection: Connection, writes: readonly Write[]): void {
  for (const write of writes) {
    if (!apply(connection, write)) throw conflict(write.type, write.key);
  }
}

function apply(connection: Connection, write: Write): boolean {
  const { collection, id } = write.key;
  if (write.type === 'delete') {
    connection.prepare(DELETE).run(collection, id);
    return true;
  }
  if (write.type === 'update') return update(connection, write);
  const values = fieldNames.map((name) => toColumn(write.fields[name]));
  return Number(connection.prepare(INSERT).run(collection, id, ...values).changes) === 1;
}

function update(connection: Connection, { key, fields }: Extract<Write, { type: 'update' }>): boolean {
  const names = fieldNames.filter((name) => fields[name] !== undefined);
  const values = names.map((name) => toColumn(fields[name]));
  return Number(connection.prepare(updateSql(names)).run(...values, key.collection, key.id).changes) === 1;
}

// Setting the id as it is lets an update without fields still find out whether the document is there.
function updateSql(names: readonly FieldName[]): string {
  const settings = ['id = id', ...names.map((name) => `${column(name)} = ?`)];
  return `UPDATE documents SET ${settings.join(', ')} WHERE collection = ? AND id = ?`;
}

function conflict(type: Write['type'], { collection, id }: DocumentKey): WriteConflictError {
  return new WriteConflictError(
    `${type} of ${collection}/${id}: the document ${type === 'create' ? 'exists' : 'is missing'}`,
  );
}
