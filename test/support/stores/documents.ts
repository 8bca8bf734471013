import type { DocumentFields } from '../../../shared/store/documentFields.ts';
import {
  type DocumentKey,
  documentId,
  type Snapshot,
  type Store,
  type StoredDocument,
  type Write,
} from '../../../shared/store/store.ts';

/** Returns the key of a user's document, derived from its natural key. */
export function userKey(...parts: readonly string[]): DocumentKey {
  return { collection: 'users', id: documentId(...parts) };
}

/** Returns the write that creates a user's document. */
export function createUser(name: string, fields: DocumentFields = {}): Write {
  return { type: 'create', key: userKey(name), fields };
}

/** Creates `count` users `user 0`, `user 1`, … with their number as `sequence`. */
export async function createUsers(store: Store, count: number, fields: DocumentFields = {}): Promise<void> {
  const writes = Array.from({ length: count }, (_, sequence) =>
    createUser(`user ${sequence}`, { ...fields, sequence }),
  );
  for (let from = 0; from < count; from += 500) await store.commit(writes.slice(from, from + 500));
}

/** Returns the current document of a user. */
export async function readUser(store: Store, name: string): Promise<StoredDocument | undefined> {
  const [document] = await store.getMany([userKey(name)]);
  return document;
}

/** Returns all results of a scan, and the number of documents in each of its arrays. */
export async function scanAll(snapshot: Snapshot, range: Parameters<Snapshot['scan']>[0]) {
  const documents: StoredDocument[] = [];
  const sizes: number[] = [];
  for await (const array of snapshot.scan(range)) {
    documents.push(...array);
    sizes.push(array.length);
  }
  return { documents, sizes };
}
