import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { instanceKey } from '../../shared/store/instance.ts';
import { openExistingStore, type StoreLocation } from '../../shared/store/openStore.ts';
import type { Surroundings } from '../command.ts';
import { loadConfig } from '../configuration.ts';
import { type Check, check, type Finding, failed, ok, warning } from './check.ts';

const OTHERS_WRITE = 0o022;
const MIN_FREE_BYTES = 1_000_000_000;

/** Checks what the environment configures, and its database. */
export async function checkConfiguration({ environment }: Pick<Surroundings, 'environment'>): Promise<Check[]> {
  const { DATA_DIR, FIRESTORE_PROJECT, GOOGLE_CLOUD_PROJECT } = environment;
  const hasDatabase = [DATA_DIR, FIRESTORE_PROJECT, GOOGLE_CLOUD_PROJECT].some((value) => (value ?? '') !== '');
  let location: StoreLocation | undefined;
  const configuration = await check('configuration', () => {
    // The other variables can be checked nevertheless.
    const config = loadConfig({ environment: hasDatabase ? environment : { ...environment, DATA_DIR: '.' } });
    if (hasDatabase) location = config.storeLocation;
    return ok('the environment variables are valid');
  });
  return [
    configuration,
    await check('temporary files', () => findSpace(tmpdir())),
    ...(location === undefined ? [await check('database', () => withoutDatabase(configuration))] : []),
    ...(location === undefined ? [] : await checkDatabase(location)),
  ];
}

function withoutDatabase({ status }: Check) {
  if (status === 'failed') return failed('not checked: correct the configuration first');
  return warning('not checked: set DATA_DIR or FIRESTORE_PROJECT, or name a place, such as identity doctor sqlite:DIR');
}

/** Checks a database without a server. */
export async function checkDatabase(location: StoreLocation): Promise<Check[]> {
  const opened = await check('database', async () => {
    const store = await openExistingStore(location);
    try {
      const [instance] = await store.getMany([instanceKey], []);
      return instance === undefined
        ? failed('the database holds no instance: run identity init')
        : ok('the database is reachable, and of this version');
    } finally {
      await store.close();
    }
  });
  if (location.kind === 'firestore' || opened.status === 'failed') return [opened];
  const { directory } = location;
  return [
    opened,
    await check('permissions', () => findPermissions(directory)),
    await check('audit trail', () => findTrail(directory)),
    await check('disk', () => findSpace(directory)),
  ];
}

/** Opening a database keeps its files from others; its directory is the operator's. */
async function findPermissions(directory: string): Promise<Finding> {
  if (process.platform === 'win32') return ok('left to the operating system');
  const isOpen = ((await stat(directory)).mode & OTHERS_WRITE) !== 0;
  return isOpen
    ? warning(`others can replace the files in ${directory}: run chmod 700 ${directory}`)
    : ok(`only its owner can change ${directory}`);
}

async function findTrail(directory: string): Promise<Finding> {
  const file = join(directory, 'audit.ndjson');
  await access(file, constants.W_OK);
  return ok(`${file} can be written`);
}

/** Says whether a directory's disk has room. */
export async function findSpace(directory: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  const text = `${(free / 1e9).toFixed(1)} GB are free in ${directory}`;
  return free < MIN_FREE_BYTES ? warning(`only ${text}: free some before an import`) : ok(text);
}
