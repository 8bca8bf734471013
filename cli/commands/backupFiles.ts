// Backups of embedded databases.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { backupKeyMissing, instanceExists } from '../../shared/errors/commandErrors.ts';
import { masterKeyMissing } from '../../shared/errors/storeErrors.ts';
import { checkOwn, readOwnSecret } from '../../shared/ownFiles.ts';
import { databaseFile, openKeyring, type StoreLocation } from '../../shared/store/openStore.ts';
import { changeKeyFile, givenKeyring, keyFilePath } from '../../shared/store/secrets/keyring.ts';
import { copyDatabase, makeOtherInstance, protectFiles } from '../../shared/store/sqlite/databaseFile.ts';
import { requireFreeFile } from '../places/filePlace.ts';
import { embeddedDirectory } from '../places/instanceLocation.ts';
import { usageError } from '../terminal/command.ts';

const NO_FILES = 'has no backup files: use the backups of Cloud Firestore';

/**
 * Copies an embedded database to a new file.
 * @param warn prints a warning
 */
export async function backUp(location: StoreLocation, file: string, warn: (warning: string) => void): Promise<void> {
  const directory = embeddedDirectory(location, NO_FILES);
  await requireFreeFile(file);
  const keyring = openKeyring(location);
  await copyDatabase(databaseFile(directory), file, { keyring, warn });
}

/**
 * Creates an embedded database from a backup.
 * @param options the file with the instance's master key, and the output for warnings
 */
export async function restoreBackup(
  location: StoreLocation,
  file: string,
  { key, warn }: { readonly key: string | undefined; readonly warn: (warning: string) => void },
): Promise<void> {
  const directory = embeddedDirectory(location, NO_FILES);
  const database = databaseFile(directory);
  if (existsSync(directory)) protectFiles(database);
  // SQLite would apply the log of another database to the restored one.
  if (['', '-wal', '-journal'].some((suffix) => existsSync(`${database}${suffix}`)))
    throw instanceExists({ content: 'an instance, or its log,', directory });
  const keyFile = keyFilePath(directory);
  if (key !== undefined && (existsSync(keyFile) || location.masterKey !== undefined))
    throw usageError(`--key is mutually exclusive with ${keyFile} and IDENTITY_MASTER_KEY: use one of them`);
  checkOwn(file, 'secret', warn);
  const keyring = key === undefined ? openKeyring(location) : givenKeyring(await readOwnSecret(key, warn), key);
  try {
    await copyDatabase(resolve(file), database, { keyring, complete: makeOtherInstance, isBackup: true, warn });
  } catch (error) {
    throw masterKeyMissing.is(error) ? backupKeyMissing({ file }) : error;
  }
  if (key !== undefined) changeKeyFile(keyFile, () => keyring.keys());
}
