import { collections } from '../../shared/store/store.ts';

/**
 * Returns `firestore.indexes.json`, which the Firebase command deploys and Terraform reads. Each collection has only an
 * index of `partition`.
 */
export function firestoreIndexes(): string {
  const fieldOverrides = collections.flatMap((collectionGroup) => [
    { collectionGroup, fieldPath: '*', indexes: [] },
    { collectionGroup, fieldPath: 'partition', indexes: [{ order: 'ASCENDING', queryScope: 'COLLECTION' }] },
  ]);
  return `${JSON.stringify({ indexes: [], fieldOverrides }, undefined, 2)}\n`;
}
