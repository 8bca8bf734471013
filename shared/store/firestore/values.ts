import { type FieldName, fieldNames, type MutableDocument, setField, storedFieldNames } from '../documentFields.ts';
import type { DocumentChanges, StoredDocument } from '../store.ts';
import type { DocumentMessage, Timestamp, ValueMessage } from './connection.ts';

/** Encodes the given fields, except those that are `null`. */
export function encodeFields(fields: DocumentChanges): Record<string, ValueMessage> {
  const encoded: Record<string, ValueMessage> = {};
  for (const name of storedFieldNames) {
    const value = fields[name];
    if (value !== undefined && value !== null) encoded[name] = encodeValue(value);
  }
  return encoded;
}

function encodeValue(value: string | number | boolean): ValueMessage {
  if (typeof value === 'string') return { stringValue: value };
  return typeof value === 'boolean' ? { booleanValue: value } : { integerValue: value };
}

/** Decodes a document with the fields in `names`. */
export function decodeDocument(message: DocumentMessage, names: readonly FieldName[] = fieldNames): StoredDocument {
  const name = message.name ?? '';
  const document: MutableDocument = { id: name.slice(name.lastIndexOf('/') + 1) };
  for (const field of names) {
    const value = message.fields?.[field];
    if (value !== undefined) setField(document, field, decodeValue(value));
  }
  return document;
}

// 64-bit integers arrive as text. This service stores only counts well below 2^53.
function decodeValue(value: ValueMessage): unknown {
  if (value.integerValue !== undefined && value.integerValue !== null) return Number(value.integerValue);
  return value.stringValue ?? value.booleanValue;
}

/** Returns a document's version: the time of its last change. */
export function encodeVersion({ updateTime }: DocumentMessage): string {
  return `${updateTime?.seconds ?? 0}.${updateTime?.nanos ?? 0}`;
}

/** Converts a version back to the time of the last change. */
export function decodeVersion(version: string): Timestamp {
  const [seconds, nanos] = version.split('.').map(Number);
  return { seconds: seconds ?? 0, nanos: nanos ?? 0 };
}
