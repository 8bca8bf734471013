import { collections } from '../../shared/store/store.ts';

/**
 * Returns `firestore.indexes.json`, which the Firebase command deploys and Terraform reads: each collection has an index of
 * `partition`, and no index of another field.
 */
export function firestoreIndexes(): string {
  const fieldOverrides = collections.flatMap((collectionGroup) => [
    { collectionGroup, fieldPath: '*', indexes: [] },
    { collectionGroup, fieldPath: 'partition', indexes: [{ order: 'ASCENDING', queryScope: 'COLLECTION' }] },
  ]);
  return `${JSON.stringify({ indexes: [], fieldOverrides }, undefined, 2)}\n`;
}
