import { z } from 'zod';
import { documentFieldTypes, type FieldName } from '../documentFields.ts';
import { type GrowingDocument, setField } from '../setField.ts';
import type { StoredDocument } from '../store.ts';

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
export function toColumn(value: string | number | boolean | null | undefined): string | number | null {
  return typeof value === 'boolean' ? Number(value) : (value ?? null);
}
