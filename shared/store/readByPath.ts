import type { FieldName } from './documentFields.ts';
import { type DocumentKey, documentPath, type Reader, type StoredDocument } from './store.ts';

/** Returns keys without repetitions, in the order of their first occurrences. */
export function distinctKeys(keys: readonly DocumentKey[]): DocumentKey[] {
  return [...new Map(keys.map((key) => [documentPath(key), key])).values()];
}

/** Reads documents, each of them once however often its key occurs; returns them by `documentPath`. */
export async function readByPath(
  reader: Pick<Reader, 'getMany'>,
  keys: readonly DocumentKey[],
  fields: readonly FieldName[],
): Promise<Map<string, StoredDocument | undefined>> {
  const distinct = distinctKeys(keys);
  if (distinct.length === 0) return new Map();
  const documents = await reader.getMany(distinct, fields);
  return new Map(distinct.map((key, index) => [documentPath(key), documents[index]]));
}
