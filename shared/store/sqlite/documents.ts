import type { StatementResultingChanges } from 'node:sqlite';
import { z } from 'zod';
import type { ExpectedVersions, Version, VersionedDocuments } from '../database.ts';
import {
  documentFieldTypes,
  type FieldName,
  type MutableDocument,
  setField,
  storedFieldNames,
} from '../documentFields.ts';
import {
  type DocumentChanges,
  type DocumentKey,
  documentPath,
  type StoredDocument,
  type Write,
  WriteConflictError,
} from '../store.ts';
import type { SqliteConnection } from './sqliteConnection.ts';

/** The name is quoted, because some column names are keywords of SQL. */
export function column(name: FieldName): string {
  return `"${name}"`;
}

const idColumn = z.string();

/** @param row the values of `fields`, then the document's id */
export function toScannedDocument(row: readonly unknown[], fields: readonly FieldName[]): StoredDocument {
  const id = row[fields.length];
  return toDocument(typeof id === 'string' ? id : idColumn.parse(id), row, fields);
}

/** @param row the values of `fields`; further values are ignored */
function toDocument(id: string, row: readonly unknown[], fields: readonly FieldName[]): StoredDocument {
  const document: MutableDocument = { id };
  for (let index = 0; index < fields.length; index++) {
    const name = fields[index];
    const value = row[index];
    if (name === undefined || value === null) continue;
    // Look up the type only for a number, because a boolean is stored as a number. Most values are texts, and looking
    // up their types would slow down exports.
    const isBoolean = typeof value === 'number' && documentFieldTypes[name] === 'boolean';
    setField(document, name, isBoolean ? value !== 0 : value);
  }
  return document;
}

type SqlValue = string | number | null;

function toSqlValue(value: string | number | boolean | null): SqlValue {
  return typeof value === 'boolean' ? Number(value) : value;
}

/** @returns `undefined` for each document that does not exist */
export function selectDocuments(
  connection: SqliteConnection,
  keys: readonly DocumentKey[],
  fields: readonly FieldName[],
): VersionedDocuments {
  const documents: (StoredDocument | undefined)[] = [];
  const versions: Version[] = [];
  // Documents that the same commit wrote have the same version. Reuse the text of the previous document's version,
  // because creating it takes as long as reading a field.
  let last = { version: Number.NaN, text: '' };
  const formatVersion = (version: number) => {
    if (version !== last.version) last = { version, text: versionText(version) };
    return last.text;
  };
  const add = ({ id }: DocumentKey, row: unknown) => {
    documents.push(Array.isArray(row) ? toDocument(id, row, fields) : undefined);
    versions.push(Array.isArray(row) ? formatVersion(Number(row[fields.length])) : undefined);
  };
  const { single, batch } = selectSql(fields);
  let at = 0;
  for (; keys.length - at >= SELECTED_TOGETHER; at += SELECTED_TOGETHER) {
    const part = keys.slice(at, at + SELECTED_TOGETHER);
    const rows = connection.prepare(batch).all(...part.flatMap(({ collection, id }) => [collection, id]));
    const byPosition: unknown[] = [];
    for (const row of rows) if (Array.isArray(row)) byPosition[Number(row.at(-1))] = row;
    for (const [position, key] of part.entries()) add(key, byPosition[position]);
  }
  for (const key of keys.slice(at)) add(key, connection.prepare(single).get(key.collection, key.id));
  return { documents, versions };
}

/**
 * The number of documents that a statement reads together. Fifty statements for one document each would take three
 * times as long as one statement for fifty documents.
 */
const SELECTED_TOGETHER = 50;

const VERSION_DIGITS = String(Number.MAX_SAFE_INTEGER).length;

function versionText(version: number): string {
  return String(version).padStart(VERSION_DIGITS, '0');
}

interface SelectStatements {
  readonly single: string;
  /** Selects `SELECTED_TOGETHER` documents. The last column is the index of the document's key in the request. */
  readonly batch: string;
}

const selects = new WeakMap<readonly FieldName[], SelectStatements>();

function selectSql(fields: readonly FieldName[]): SelectStatements {
  const cachedStatements = selects.get(fields);
  if (cachedStatements !== undefined) return cachedStatements;
  const columns = [...fields.map(column), 'version'].join(', ');
  const keys = Array.from({ length: SELECTED_TOGETHER }, (_, position) => `(${position}, ?, ?)`);
  const statements = {
    single: `SELECT ${columns} FROM documents WHERE collection = ? AND id = ?`,
    batch: `WITH keys (position, ofCollection, ofId) AS (VALUES ${keys.join(', ')})
      SELECT ${columns}, position FROM keys CROSS JOIN documents ON collection = ofCollection AND id = ofId`,
  };
  selects.set(fields, statements);
  return statements;
}

/**
 * Requires that documents still have the expected versions. Runs in the open transaction of the connection.
 * @throws WriteConflictError if a document has another version than expected
 */
export function checkVersions(connection: SqliteConnection, expected: ExpectedVersions): void {
  for (const { key, version } of expected.values()) {
    const [current] = selectDocuments(connection, [key], noFields).versions;
    if (current !== version) throw new WriteConflictError(`${documentPath(key)}: the document has changed`);
  }
}

const noFields: readonly FieldName[] = [];

export function newestVersion(connection: SqliteConnection): string {
  const [newest] = versionRow.parse(connection.prepare('SELECT value FROM clock').get());
  return versionText(newest);
}

const NEXT_VERSION = 'UPDATE clock SET value = value + 1 RETURNING value';
const versionRow = z.tuple([z.number()]);

/**
 * Returns a new version, for all documents that the open transaction of the connection writes. A single counter
 * supplies the versions of all documents, so a document that was deleted and created again gets a new version.
 */
export function nextVersion(connection: SqliteConnection): number {
  return versionRow.parse(connection.prepare(NEXT_VERSION).get())[0];
}

const DELETE_DOCUMENT = 'DELETE FROM documents WHERE collection = ? AND id = ?';

/**
 * Applies writes in order, in the open transaction of the connection.
 * @param version the version of this transaction, from `nextVersion`
 * @throws WriteConflictError at the first failed precondition; the writes before it remain applied
 */
export function applyWrites(connection: SqliteConnection, writes: readonly Write[], version: number): void {
  for (const write of writes) {
    if (!applyWrite(connection, write, version)) throw conflictError(write.type, write.key);
  }
}

function applyWrite(connection: SqliteConnection, write: Write, version: number): boolean {
  const { collection, id } = write.key;
  switch (write.type) {
    case 'create':
    case 'update': {
      const values: SqlValue[] = [version];
      const sql = writeSql(write.type, addPresent(write.fields, values));
      values.push(collection, id);
      return changesOne(connection.prepare(sql).run(...values));
    }
    case 'delete':
      connection.prepare(DELETE_DOCUMENT).run(collection, id);
      return true;
  }
}

function changesOne({ changes }: StatementResultingChanges): boolean {
  return Number(changes) === 1;
}

/**
 * Appends the values of the fields that are present to `values`. Returns a number whose bits show which fields are
 * present, in the order of `storedFieldNames`.
 */
function addPresent(fields: DocumentChanges, values: SqlValue[]): number {
  let present = 0;
  let bit = 1;
  for (const name of storedFieldNames) {
    const value = fields[name];
    if (value !== undefined) {
      present |= bit;
      values.push(toSqlValue(value));
    }
    bit <<= 1;
  }
  return present;
}

const writeStatements = { create: new Map<number, string>(), update: new Map<number, string>() };

/**
 * Returns the statement that creates a document with some fields, or sets these fields of a document. Its parameters
 * are the version, the values, the collection and the id. Caches statements, because only a few combinations of fields
 * occur.
 * @param present a bit for each field; see `addPresent`
 */
function writeSql(type: 'create' | 'update', present: number): string {
  const cachedSql = writeStatements[type].get(present);
  if (cachedSql !== undefined) return cachedSql;
  const columns = ['version', ...storedFieldNames.filter((_, at) => (present & (1 << at)) !== 0).map(column)];
  const sql =
    type === 'create'
      ? `INSERT INTO documents (${columns.join(', ')}, collection, id)
           VALUES (?, ?${', ?'.repeat(columns.length)}) ON CONFLICT DO NOTHING`
      : `UPDATE documents SET ${columns.map((name) => `${name} = ?`).join(', ')} WHERE collection = ? AND id = ?`;
  writeStatements[type].set(present, sql);
  return sql;
}

function conflictError(type: Write['type'], { collection, id }: DocumentKey): WriteConflictError {
  return new WriteConflictError(
    `${type} of ${collection}/${id}: the document ${type === 'create' ? 'exists' : 'is missing'}`,
  );
}
