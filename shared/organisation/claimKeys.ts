// The keys of claims. A claim is a document that reserves a unique name for a record. This module is separate, so that
// the modules of the sections do not load ZITADEL's message definitions.

import { type Collection, type DocumentKey, documentId, type StoredDocument } from '../store/store.ts';

export function lowerCase(name: string): string {
  return name.toLowerCase();
}

/**
 * Returns the key of the claim on a name. Convert the texts in `names` first, for example to lower case, so that
 * equivalent names are equal.
 * @param scope the id of the organisation in which the name must be unique; by default, the name must be unique in the
 *   whole instance
 */
export function claimKey(type: string, names: readonly string[], scope: readonly string[] = []): DocumentKey {
  // Use `concat`, because V8 is slow if one call spreads several arrays.
  return { collection: 'claims', id: documentId(...[type].concat(scope, names)) };
}

export function caselessClaimKey(type: string, parts: readonly string[]): DocumentKey {
  return claimKey(type, parts.map(lowerCase));
}

/** Returns the key of the record that owns a stored claim. */
export function holderKey({ ownerId = '' }: StoredDocument, collection: Collection): DocumentKey {
  return { collection, id: ownerId.slice(collection.length + 1) };
}
