import { join } from 'node:path';
import type { Store } from './store.ts';

/** Which database an instance has: a file of its own in a directory, or a database of Cloud Firestore. */
export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly directory: string }
  | { readonly kind: 'firestore'; readonly projectId: string; readonly databaseId: string };

/**
 * Opens the database of an instance; the embedded one is made where there is none.
 * Only the implementation that is asked for gets loaded, since each makes the start slower.
 * @throws IdentityError UNAVAILABLE when another process keeps the database file locked
 */
export async function openStore(location: StoreLocation): Promise<Store> {
  if (location.kind === 'sqlite') {
    const { openSqliteStore } = await import('./sqlite/openSqliteStore.ts');
    return openSqliteStore(join(location.directory, 'identity.sqlite'));
  }
  const { openFirestoreStore } = await import('./firestore/openFirestoreStore.ts');
  return openFirestoreStore({ projectId: location.projectId, databaseId: location.databaseId });
}
