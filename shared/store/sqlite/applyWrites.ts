import { type FieldName, fieldNames } from '../documentFields.ts';
import { type DocumentKey, type Write, WriteConflict } from '../store.ts';
import type { Connection } from './connection.ts';
import { toColumn } from './rows.ts';
import { column } from './schema.ts';

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
  return Number(connection.prepare(updateOf(names)).run(...values, key.collection, key.id).changes) === 1;
}

// Setting the id as it is lets an update without fields still find out whether the document is there.
function updateOf(names: readonly FieldName[]): string {
  const settings = ['id = id', ...names.map((name) => `${column(name)} = ?`)];
  return `UPDATE documents SET ${settings.join(', ')} WHERE collection = ? AND id = ?`;
}

function conflict(type: Write['type'], { collection, id }: DocumentKey): WriteConflict {
  return new WriteConflict(
    `${type} of ${collection}/${id}: the document ${type === 'create' ? 'exists' : 'is missing'}`,
  );
}
