import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { extractTrail, hasTrail, storeTrail } from '../../shared/audit/file/trailCopy.ts';
import { fileExists, instanceExists } from '../../shared/errors/commandErrors.ts';
import { describeInstance } from '../../shared/instance.ts';
import { databaseFile, openKeyring } from '../../shared/store/openStore.ts';
import { changeKeyFile, keyFilePath } from '../../shared/store/secrets/keyFile.ts';
import { fileKeyring } from '../../shared/store/secrets/keyring.ts';
import { copyDatabase } from '../../shared/store/sqlite/copyDatabase.ts';
import { argument, type Prepare, type Run, UsageError } from '../command.ts';
import { embeddedDirectory } from './embedded.ts';

const NO_FILES = 'has no backup files: use the backups of Cloud Firestore';

/** Runs `identity backup`. */
export const backup: Run = async (invocation) => {
  const directory = embeddedDirectory(invocation.location, NO_FILES);
  const file = resolve(argument(invocation, 0));
  if (existsSync(file)) throw fileExists(file);
  const keyring = openKeyring(invocation.location);
  await copyDatabase(databaseFile(directory), file, { keyring, complete: (copy) => storeTrail(copy, directory) });
  return {
    json: { file },
    text: `backup in ${file}: it contains password hashes, and only its owner can read it; restoring it takes the master key, which it does not contain`,
  };
};

/** Copies a backup to the place of the database, before `identity restore` opens it. */
export const prepareRestore: Prepare = async (location, [file = ''], { key }) => {
  const directory = embeddedDirectory(location, NO_FILES);
  const database = databaseFile(directory);
  // SQLite would apply the log of another database to the restored one.
  if (['', '-wal', '-journal'].some((suffix) => existsSync(`${database}${suffix}`)))
    throw instanceExists('an instance, or its log,', directory);
  if (hasTrail(directory)) throw instanceExists('the audit trail of an instance', directory);
  const keyFile = keyFilePath(directory);
  if (key !== undefined && (existsSync(keyFile) || location.masterKey !== undefined))
    throw new UsageError(`--key is mutually exclusive with ${keyFile} and IDENTITY_MASTER_KEY: use one of them`);
  const keyring = key === undefined ? openKeyring(location) : fileKeyring(resolve(key));
  await copyDatabase(resolve(file), database, {
    keyring,
    complete: async (copy) => void extractTrail(copy, directory),
  });
  if (key !== undefined) changeKeyFile(keyFile, () => keyring.keys());
};

/** Runs `identity restore`, on the restored database. */
export const restore: Run = async ({ store, location }) => {
  const directory = embeddedDirectory(location, NO_FILES);
  const { instance: name } = await describeInstance(store);
  return { json: { name, directory }, text: `instance ${name} is restored in ${directory}` };
};
