// The keys of claims. A claim is a document that reserves a unique name for a record. These functions have a module of
// their own, so that the modules of the sections do not load ZITADEL's message definitions.

import { type Collection, type DocumentKey, documentId, type StoredDocument } from '../store/store.ts';

export function lowerCase(name: string): string {
  return name.toLowerCase();
}

/**
 * Returns the key of the claim that reserves a name. If two spellings of a name count as the same name, the caller must
 * convert them to one spelling, for example to lower case.
 * @param scope the id of the organisation in which the name must be unique; empty if the name must be unique in the
 *   whole instance
 */
export function claimKey(type: string, names: readonly string[], scope: readonly string[] = []): DocumentKey {
  // Use `concat` instead of several spread arrays in one call, which V8 executes slowly.
  return { collection: 'claims', id: documentId(...[type].concat(scope, names)) };
}

export function caselessClaimKey(type: string, parts: readonly string[]): DocumentKey {
  return claimKey(type, parts.map(lowerCase));
}

/** Returns the key of the record that owns a stored claim. */
export function holderKey({ ownerId = '' }: StoredDocument, collection: Collection): DocumentKey {
  return { collection, id: ownerId.slice(collection.length + 1) };
}
