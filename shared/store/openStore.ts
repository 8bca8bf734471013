import { statSync } from 'node:fs';
import { join } from 'node:path';
import { instanceMissing } from '../errors/commandErrors.ts';
import { masterKeyMissing } from '../errors/storeErrors.ts';
import { createStore } from './createStore.ts';
import { embeddedGuard, KEY_FENCE_MS, sharedGuard } from './secrets/keyRecord.ts';
import { emptyKeyring, fileKeyring, givenKeyring, type Keyring, keyFilePath } from './secrets/keyring.ts';
import type { SqliteOptions } from './sqlite/sqliteDatabase.ts';
import type { Store } from './store.ts';

/**
 * The location of an instance's database: a directory with an embedded database, or Cloud Firestore. Most modules
 * distinguish the two by `directory` or `projectId` instead of `kind`.
 */
export type StoreLocation = (
  | { readonly kind: 'sqlite'; readonly directory: string }
  | { readonly kind: 'firestore'; readonly projectId: string; readonly databaseId: string }
) & {
  /** The directory of an embedded database; undefined for Cloud Firestore. */
  readonly directory?: string | undefined;
  /** The Google Cloud project of a Firestore database. The project's log contains the audit trail. Undefined for SQLite. */
  readonly projectId?: string | undefined;
  /**
   * The value of `IDENTITY_MASTER_KEY`. If undefined, an embedded database uses the keys in the file `master.key` in
   * its directory.
   */
  readonly masterKey?: string | undefined;
};

/**
 * Returns whether the database exists. Returns true for every Firestore database, because `openStore` never creates
 * such a database.
 */
export function hasDatabase({ directory }: StoreLocation): boolean {
  return directory === undefined || statSync(databaseFile(directory), { throwIfNoEntry: false }) !== undefined;
}

/**
 * Opens the database of an instance; creates an embedded database if it does not exist. Loads only the implementation
 * in use, because each implementation slows down the start.
 * @example
 *     const store = await openStore({ kind: 'sqlite', directory: './north' });
 *     const [instance] = await store.getMany([instanceKey]);
 *     await store.close();
 * @throws IdentityError UNAVAILABLE if another process keeps the database file locked, if the database has another
 * format, or if its master key is missing or wrong. For Firestore, this function does not throw these errors; the later
 * operations throw them.
 */
export async function openStore(
  location: StoreLocation,
  { isAttended }: Pick<SqliteOptions, 'isAttended'> = {},
): Promise<Store> {
  const keyring = openKeyring(location);
  switch (location.kind) {
    case 'sqlite': {
      const { openSqliteDatabase } = await import('./sqlite/sqliteDatabase.ts');
      const database = openSqliteDatabase(databaseFile(location.directory), { isAttended, keyring });
      return createStore(database, embeddedGuard(keyring));
    }
    case 'firestore': {
      const { openFirestoreDatabase } = await import('./firestore/firestoreDatabase.ts');
      return createStore(openFirestoreDatabase(location), sharedGuard(keyring));
    }
  }
}

/**
 * Opens the keyring of a database. The keyring may be empty.
 * @throws IdentityError if a key is invalid
 */
export function openKeyring({ masterKey, directory }: StoreLocation): Keyring {
  if (masterKey !== undefined) return givenKeyring(masterKey);
  return directory === undefined ? emptyKeyring() : fileKeyring(keyFilePath(directory));
}

/**
 * Requires a master key for a database on a server. Call this function in each process that accesses secrets. It does
 * nothing for an embedded database, because its keys are in its directory.
 * @throws IdentityError UNAVAILABLE if the database is on a server and there is no master key
 */
export function requireMasterKey({ directory, masterKey }: StoreLocation): void {
  if (directory === undefined && masterKey === undefined) throw masterKeyMissing();
}

/**
 * Returns a number of milliseconds. If this time has passed since a key rotation, no process encrypts with the previous
 * master key any more. Returns 0 for an embedded database, in which each commit checks the key.
 */
export function keyFenceMs({ directory }: StoreLocation): number {
  return directory === undefined ? KEY_FENCE_MS : 0;
}

export function databaseFile(directory: string): string {
  return join(directory, 'identity.sqlite');
}

/** @throws IdentityError if the database does not exist, or its master key is missing or wrong */
export async function openExistingStore(location: StoreLocation): Promise<Store> {
  if (!hasDatabase(location)) throw instanceMissing({ directory: location.directory ?? '' });
  requireMasterKey(location);
  return openStore(location);
}
