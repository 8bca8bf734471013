import { type FieldName, fieldNames } from '../documentFields.ts';
import type { DocumentKey, StoredDocument } from '../store.ts';
import type { Connection } from './connection.ts';
import { toDocument } from './rows.ts';
import { column } from './schema.ts';

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
