// The keys of the claims on unique names. In a separate module, so that sections do not load the descriptors of
// records.

import { type Collection, type DocumentKey, documentId, type StoredDocument } from '../store/store.ts';

/** Returns the same text for all names that differ only in case. */
export function lowerCase(name: string): string {
  return name.toLowerCase();
}

/**
 * Returns the key of a name's claim.
 * @param names the name's parts, converted so that equivalent names are equal
 */
export function claimKey(type: string, names: readonly string[], scope: readonly string[] = []): DocumentKey {
  // V8 builds the arguments of a call with several spreads slowly.
  return { collection: 'claims', id: documentId(...[type].concat(scope, names)) };
}

/** Returns the key of the claim of a name that ZITADEL compares without case. */
export function caselessClaimKey(type: string, parts: readonly string[]): DocumentKey {
  return claimKey(type, parts.map(lowerCase));
}

/**
 * Returns the key of the record that owns a stored claim.
 * @param collection the collection of such records
 */
export function holderKey({ ownerId = '' }: StoredDocument, collection: Collection): DocumentKey {
  return { collection, id: ownerId.slice(collection.length + 1) };
}
