import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from './store.ts';

/** Which database an instance has: a file of its own in a directory, or a database of Cloud Firestore. */
export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly directory: string }
  | { readonly kind: 'firestore'; readonly projectId: string; readonly databaseId: string };

/** Whether there is anything to open: the embedded database is made by opening it, that in the cloud is not. */
export function hasDatabase(location: StoreLocation): boolean {
  return location.kind === 'firestore' || existsSync(databaseFile(location.directory));
}

/**
 * Opens the database of an instance; the embedded one is made where there is none.
 * Only the implementation that is asked for gets loaded, since each makes the start slower.
 * @throws IdentityError UNAVAILABLE when another process keeps the database file locked
 */
export async function openStore(location: StoreLocation): Promise<Store> {
  if (location.kind === 'sqlite') {
    const { openSqliteStore } = await import('./sqlite/openSqliteStore.ts');
    return openSqliteStore(databaseFile(location.directory));
  }
  const { openFirestoreStore } = await import('./firestore/openFirestoreStore.ts');
  return openFirestoreStore({ projectId: location.projectId, databaseId: location.databaseId });
}

function databaseFile(directory: string): string {
  return join(directory, 'identity.sqlite');
}
