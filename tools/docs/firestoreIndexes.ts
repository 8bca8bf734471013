import { collections } from '../../shared/store/store.ts';

/**
 * Returns the content of `firestore.indexes.json`, which the Firebase command deploys and Terraform reads. Each
 * collection has a single index, on `partition`.
 */
export function firestoreIndexes(): string {
  const fieldOverrides = collections.flatMap((collectionGroup) => [
    { collectionGroup, fieldPath: '*', indexes: [] },
    { collectionGroup, fieldPath: 'partition', indexes: [{ order: 'ASCENDING', queryScope: 'COLLECTION' }] },
  ]);
  return `${JSON.stringify({ indexes: [], fieldOverrides }, undefined, 2)}\n`;
}
