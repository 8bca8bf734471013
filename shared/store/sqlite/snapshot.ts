import { setImmediate } from 'node:timers/promises';
import { fieldNames } from '../documentFields.ts';
import type { ScanRange, Snapshot, StoredDocument } from '../store.ts';
import { type Connection, connect, toStoreError } from './connection.ts';
import { column, readMany, toDocument } from './documents.ts';

/** Opens a separate connection whose reads all see the present state of the database. */
export function openSnapshot(file: string, busyTimeout: number): Snapshot {
  const connection = connect({ file, busyTimeout });
  connection.execute('BEGIN');
  // A read transaction fixes its state at its first read, not at BEGIN.
  connection.prepare('SELECT count(*) FROM (SELECT 1 FROM documents LIMIT 1)').get();
  return {
    readTime: new Date(),
    getMany: async (keys, fields) => readMany(connection, keys, fields).documents,
    scan: (range) => withStoreErrors(scan(connection, range)),
    [Symbol.asyncDispose]: async () => connection.close(),
  };
}

async function* withStoreErrors(
  batches: AsyncGenerator<readonly StoredDocument[]>,
): AsyncGenerator<readonly StoredDocument[]> {
  try {
    yield* batches;
  } catch (reason) {
    throw toStoreError(reason);
  }
}

const BATCH_SIZE = 500;

/** Reads the documents of a range in batches, and yields to the event loop before each one. */
async function* scan(connection: Connection, range: ScanRange): AsyncGenerator<readonly StoredDocument[]> {
  const { sql, parameters } = buildSelect(range);
  const statement = connection.borrow(sql);
  const rows: Iterator<unknown> = statement.iterate(...parameters);
  try {
    for (;;) {
      await setImmediate();
      const documents = takeBatch(rows, range.fields ?? fieldNames);
      if (documents.length > 0) yield documents;
      if (documents.length < BATCH_SIZE) return;
    }
  } finally {
    rows.return?.();
    connection.release(sql, statement);
  }
}

function takeBatch(rows: Iterator<unknown>, fields: NonNullable<ScanRange['fields']>): StoredDocument[] {
  const documents: StoredDocument[] = [];
  while (documents.length < BATCH_SIZE) {
    const { done, value } = rows.next();
    if (done === true) break;
    if (Array.isArray(value)) documents.push(toDocument(value, fields));
  }
  return documents;
}

function buildSelect(range: ScanRange): { sql: string; parameters: string[] } {
  const columns = ['id', ...(range.fields ?? fieldNames).map(column)].join(', ');
  const conditions: [string, string | undefined][] = [
    ['collection = ?', range.collection],
    ['"partition" = ?', range.partition],
    ['id >= ?', range.from],
    ['id < ?', range.to],
  ];
  const present = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
  return {
    sql: `SELECT ${columns} FROM documents WHERE ${present.map(({ sql }) => sql).join(' AND ')} ORDER BY id`,
    parameters: present.map(({ value }) => value),
  };
}
