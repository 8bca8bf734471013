import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { backupKeyMissing, instanceExists } from '../../shared/errors/commandErrors.ts';
import { masterKeyMissing } from '../../shared/errors/storeErrors.ts';
import { checkOwn, readOwnSecret } from '../../shared/ownFiles.ts';
import { databaseFile, openKeyring, type StoreLocation } from '../../shared/store/openStore.ts';
import { changeKeyFile, givenKeyring, keyFilePath } from '../../shared/store/secrets/keyring.ts';
import {
  type CopyOptions,
  copyDatabase,
  makeOtherInstance,
  protectFiles,
} from '../../shared/store/sqlite/databaseFile.ts';
import { requireFreeFile } from '../places/filePlace.ts';
import { embeddedDirectory } from '../places/instanceLocation.ts';
import { type Surroundings, usageError } from '../terminal/command.ts';
import { type Meter, progressLines, trackPhase } from '../terminal/progress.ts';
import { warnOn } from '../terminal/terminal.ts';

const NO_FILES = 'has no backup files: use the backups of Cloud Firestore';

export async function backUp(location: StoreLocation, file: string, stderr: Surroundings['stderr']): Promise<void> {
  const directory = embeddedDirectory(location, NO_FILES);
  await requireFreeFile(file);
  const keyring = openKeyring(location);
  await copyShown(databaseFile(directory), file, { keyring }, stderr);
}

async function copyShown(
  source: string,
  target: string,
  options: CopyOptions,
  stderr: Surroundings['stderr'],
): Promise<void> {
  let share = 0;
  const onCopied = (copied: number) => {
    share = copied;
  };
  const { size = 0 } = statSync(source, { throwIfNoEntry: false }) ?? {};
  const meter: Meter = { records: () => 0, bytes: () => Math.round(share * size), fraction: () => share };
  await trackPhase(progressLines(stderr), 'copying', meter, async () => {
    await copyDatabase(source, target, { ...options, warn: warnOn(stderr), onCopied });
    share = 1;
  });
}

/** @param options `key` is the file with the instance's master key; `stderr` receives progress and warnings */
export async function restoreBackup(
  location: StoreLocation,
  file: string,
  { key, stderr }: { readonly key: string | undefined; readonly stderr: Surroundings['stderr'] },
): Promise<void> {
  const directory = embeddedDirectory(location, NO_FILES);
  const warn = warnOn(stderr);
  const database = databaseFile(directory);
  if (existsSync(directory)) protectFiles(database);
  // An earlier database can leave SQLite's log files in the directory. SQLite would apply such a log to the restored
  // database.
  if (['', '-wal', '-journal'].some((suffix) => existsSync(`${database}${suffix}`)))
    throw instanceExists({ content: 'an instance, or the log of its database', directory });
  const keyFile = keyFilePath(directory);
  if (key !== undefined && (existsSync(keyFile) || location.masterKey !== undefined))
    throw usageError(`--key is mutually exclusive with ${keyFile} and IDENTITY_MASTER_KEY: use one of them`);
  checkOwn(file, 'secret', warn);
  const keyring = key === undefined ? openKeyring(location) : givenKeyring(await readOwnSecret(key, warn), key);
  try {
    await copyShown(resolve(file), database, { keyring, complete: makeOtherInstance, isBackup: true }, stderr);
  } catch (error) {
    throw masterKeyMissing.is(error) ? backupKeyMissing({ file }) : error;
  }
  if (key !== undefined) changeKeyFile(keyFile, () => keyring.keys());
}
