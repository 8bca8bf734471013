import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { type DocumentFields, documentFieldTypes, type FieldName } from '../documentFields.ts';
import { type GrowingDocument, setField } from '../setField.ts';
import type { DocumentKey } from '../store.ts';

/** The documents that were written into an overlay, in a temporary file of SQLite's own that nobody else can open. */
export class Layer {
  private readonly database = new DatabaseSync('');
  private readonly select;
  private readonly replace;

  constructor() {
    this.database.exec('CREATE TABLE documents (key TEXT PRIMARY KEY, fields TEXT) STRICT, WITHOUT ROWID');
    this.select = this.database.prepare('SELECT fields FROM documents WHERE key = ?');
    this.replace = this.database.prepare('REPLACE INTO documents (key, fields) VALUES (?, ?)');
  }

  /** The fields of a document, `null` where it was deleted, `undefined` where it is as it was. */
  read({ collection, id }: DocumentKey): DocumentFields | null | undefined {
    const row = this.select.get(`${collection}/${id}`);
    if (row === undefined) return undefined;
    return typeof row.fields === 'string' ? fieldsOf(id, row.fields) : null;
  }

  /** Writes a document, or with `null` takes it away. */
  write({ collection, id }: DocumentKey, fields: DocumentFields | null): void {
    this.replace.run(`${collection}/${id}`, fields === null ? null : JSON.stringify(fields));
  }

  /** Runs `work` so that all that it writes is kept, or nothing. */
  atomically(work: () => void): void {
    this.database.exec('BEGIN');
    try {
      work();
      this.database.exec('COMMIT');
    } catch (reason) {
      this.database.exec('ROLLBACK');
      throw reason;
    }
  }

  close(): void {
    this.database.close();
  }
}

const written = z.record(z.string(), z.unknown());

function fieldsOf(id: string, json: string): DocumentFields {
  const document: GrowingDocument = { id };
  for (const [name, value] of Object.entries(written.parse(JSON.parse(json)))) {
    if (isFieldName(name)) setField(document, name, value);
  }
  return document;
}

function isFieldName(name: string): name is FieldName {
  return name in documentFieldTypes;
}
