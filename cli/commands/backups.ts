import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { extractTrail, hasTrail, storeTrail } from '../../shared/audit/file/trailCopy.ts';
import { instanceName } from '../../shared/instance.ts';
import { databaseFile } from '../../shared/store/openStore.ts';
import { copyDatabase } from '../../shared/store/sqlite/copyDatabase.ts';
import { argument, type Prepare, type Run, UsageError } from '../command.ts';
import { embeddedDirectory } from './embedded.ts';

const NO_FILES = 'has no backup files: use the backups of Cloud Firestore';

/** Runs `identity backup`. */
export const backup: Run = async (invocation) => {
  const directory = embeddedDirectory(invocation.location, NO_FILES);
  const file = resolve(argument(invocation, 0));
  if (existsSync(file)) throw new UsageError(`${file} exists: choose another name`);
  await copyDatabase(databaseFile(directory), file, (copy) => storeTrail(copy, directory));
  return { json: { file }, text: `backup in ${file}: it contains password hashes, and only its owner can read it` };
};

/** Copies a backup to the place of the database, before `identity restore` opens it. */
export const prepareRestore: Prepare = async (location, [file = '']) => {
  const directory = embeddedDirectory(location, NO_FILES);
  const database = databaseFile(directory);
  // SQLite would apply the log of another database to the restored one.
  if (['', '-wal', '-journal'].some((suffix) => existsSync(`${database}${suffix}`))) {
    throw new UsageError(`there is an instance, or its log, in ${directory}: restore into another directory`);
  }
  if (hasTrail(directory)) {
    throw new UsageError(`there is the audit trail of an instance in ${directory}: restore into another directory`);
  }
  await copyDatabase(resolve(file), database, async (copy) => void extractTrail(copy, directory));
};

/** Runs `identity restore`, on the restored database. */
export const restore: Run = async ({ store, location }) => {
  const directory = embeddedDirectory(location, NO_FILES);
  const name = await instanceName(store);
  return { json: { name, directory }, text: `instance ${name} is restored in ${directory}` };
};
