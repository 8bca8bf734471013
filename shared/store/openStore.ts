import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { guardFormat } from './format.ts';
import type { Store } from './store.ts';

/** The location of an instance's database: a directory for the embedded one, or a database of Cloud Firestore. */
export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly directory: string }
  | { readonly kind: 'firestore'; readonly projectId: string; readonly databaseId: string };

/** Whether the database exists; opening creates only embedded ones. */
export function hasDatabase(location: StoreLocation): boolean {
  return location.kind === 'firestore' || existsSync(databaseFile(location.directory));
}

/**
 * Opens the database of an instance, and creates an embedded one that does not exist.
 * Loads only the implementation in use, because each one slows the start down.
 * @throws IdentityError UNAVAILABLE when another process keeps the database file locked, or a newer version has written it
 */
export async function openStore(location: StoreLocation): Promise<Store> {
  if (location.kind === 'sqlite') {
    const { openSqliteStore } = await import('./sqlite/openSqliteStore.ts');
    return openSqliteStore(databaseFile(location.directory));
  }
  const { openFirestoreStore } = await import('./firestore/openFirestoreStore.ts');
  return guardFormat(openFirestoreStore({ projectId: location.projectId, databaseId: location.databaseId }));
}

/** Returns the path of the embedded database in an instance's directory. */
export function databaseFile(directory: string): string {
  return join(directory, 'identity.sqlite');
}
