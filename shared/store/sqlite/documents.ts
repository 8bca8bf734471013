import { z } from 'zod';
import {
  documentFieldTypes,
  type FieldName,
  fieldNames,
  type MutableDocument,
  setField,
  storedFieldNames,
} from '../documentFields.ts';
import { type DocumentKey, documentPath, type StoredDocument, type Write, WriteConflictError } from '../store.ts';
import type { ExpectedVersions, VersionedDocuments } from '../transaction.ts';
import type { Connection } from './connection.ts';

/** Returns a field's column, quoted because some of the names are SQL keywords. */
export function column(name: FieldName): string {
  return `"${name}"`;
}

const spread = /^[0-9a-f]{2}~/;
const gathered = /~[0-9a-f]{2}$/;
const PREFIX_LENGTH = '00~'.length;

/**
 * Returns the id of a document's row. The hash digits of `documentId`, which spread ids over a distributed database, would
 * scatter the rows of one file over all pages: here they stand at the end.
 */
export function toRowId(documentId: string): string {
  if (!spread.test(documentId)) return documentId;
  return `${documentId.slice(PREFIX_LENGTH)}~${documentId.slice(0, 2)}`;
}

/** Returns the document's id of a row. */
function fromRowId(rowId: string): string {
  return gathered.test(rowId) ? `${rowId.slice(-2)}~${rowId.slice(0, -PREFIX_LENGTH)}` : rowId;
}

/** The SQL expression that converts the id of a row to the document's. */
export const DOCUMENT_ID_SQL = `CASE WHEN id GLOB '*~[0-9a-f][0-9a-f]' THEN substr(id, -2) || '~' || substr(id, 1, length(id) - 3) ELSE id END`;

/** The SQL expression that converts a document's id to that of its row. */
export const ROW_ID_SQL = `CASE WHEN id GLOB '[0-9a-f][0-9a-f]~*' THEN substr(id, 4) || '~' || substr(id, 1, 2) ELSE id END`;

const idColumn = z.string();

/**
 * Converts a row to a document.
 * @param row the document's id, then its values in the order of `fields`
 */
export function toDocument(row: readonly unknown[], fields: readonly FieldName[]): StoredDocument {
  const document: MutableDocument = { id: fromRowId(typeof row[0] === 'string' ? row[0] : idColumn.parse(row[0])) };
  for (const [index, name] of fields.entries()) {
    const value = row[index + 1];
    if (value !== null) setField(document, name, documentFieldTypes[name] === 'boolean' ? value !== 0 : value);
  }
  return document;
}

/** Converts a field's value to a value that SQLite can bind. */
function toSqlValue(value: string | number | boolean | null | undefined): string | number | null {
  return typeof value === 'boolean' ? Number(value) : (value ?? null);
}

/**
 * Reads documents in the order of `keys`.
 * @returns `undefined` for each document that does not exist
 */
export function readMany(
  connection: Connection,
  keys: readonly DocumentKey[],
  fields: readonly FieldName[] = fieldNames,
): VersionedDocuments {
  const columns = ['id', ...fields.map(column), 'version'].join(', ');
  const statement = connection.prepare(`SELECT ${columns} FROM documents WHERE collection = ? AND id = ?`);
  const rows = keys.map(({ collection, id }): readonly unknown[] | undefined => {
    const row: unknown = statement.get(collection, toRowId(id));
    return Array.isArray(row) ? row : undefined;
  });
  return {
    documents: rows.map((row) => row && toDocument(row, fields)),
    versions: rows.map((row) => row && String(row.at(-1))),
  };
}

/**
 * Compares versions, within the connection's open transaction.
 * @throws WriteConflictError at the first document that has another version
 */
export function checkVersions(connection: Connection, expected: ExpectedVersions): void {
  const checked = [...expected.values()];
  const { versions } = readMany(
    connection,
    checked.map(({ key }) => key),
    [],
  );
  for (const [index, { key, version }] of checked.entries()) {
    if (versions[index] !== version) throw new WriteConflictError(`${documentPath(key)}: the document has changed`);
  }
}

// One counter for all documents, so that a document which was deleted and created again has a new version.
const NEXT_VERSION = 'UPDATE clock SET value = value + 1 RETURNING value';

function nextVersion(connection: Connection): number {
  const row: unknown = connection.prepare(NEXT_VERSION).get();
  return versionRow.parse(row)[0];
}

const versionRow = z.tuple([z.number()]);

const INSERT = `INSERT INTO documents (collection, id, version, ${storedFieldNames.map(column).join(', ')})
  VALUES (?, ?, ?${', ?'.repeat(storedFieldNames.length)}) ON CONFLICT DO NOTHING`;
const DELETE = 'DELETE FROM documents WHERE collection = ? AND id = ?';

/**
 * Applies writes in order, within the connection's open transaction.
 * @throws WriteConflictError at the first failed precondition; the writes before it stay applied
 */
export function applyWrites(connection: Connection, writes: readonly Write[]): void {
  const version = nextVersion(connection);
  for (const write of writes) {
    if (!applyWrite(connection, write, version)) throw conflictError(write.type, write.key);
  }
}

function applyWrite(connection: Connection, write: Write, version: number): boolean {
  const { collection } = write.key;
  const id = toRowId(write.key.id);
  if (write.type === 'delete') {
    connection.prepare(DELETE).run(collection, id);
    return true;
  }
  if (write.type === 'update') return update(connection, write, version);
  const values = storedFieldNames.map((name) => toSqlValue(write.fields[name]));
  return Number(connection.prepare(INSERT).run(collection, id, version, ...values).changes) === 1;
}

function update(connection: Connection, { key, fields }: Extract<Write, { type: 'update' }>, version: number): boolean {
  const names = storedFieldNames.filter((name) => fields[name] !== undefined);
  const values = names.map((name) => toSqlValue(fields[name]));
  return (
    Number(connection.prepare(updateSql(names)).run(version, ...values, key.collection, toRowId(key.id)).changes) === 1
  );
}

function updateSql(names: readonly FieldName[]): string {
  const assignments = ['version = ?', ...names.map((name) => `${column(name)} = ?`)];
  return `UPDATE documents SET ${assignments.join(', ')} WHERE collection = ? AND id = ?`;
}

function conflictError(type: Write['type'], { collection, id }: DocumentKey): WriteConflictError {
  return new WriteConflictError(
    `${type} of ${collection}/${id}: the document ${type === 'create' ? 'exists' : 'is missing'}`,
  );
}
