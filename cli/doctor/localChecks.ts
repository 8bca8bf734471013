import { constants, existsSync } from 'node:fs';
import { access, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import type { ObjectLocation } from '../../shared/objectStorage/objectStorage.ts';
import { checkOwn } from '../../shared/ownFiles.ts';
import { instanceKey } from '../../shared/store/instance.ts';
import { openExistingStore, type StoreLocation } from '../../shared/store/openStore.ts';
import type { Surroundings } from '../command.ts';
import { loadConfig } from '../configuration.ts';
import { describeFault } from '../faults.ts';
import { exportOptions } from '../places/callOptions.ts';
import { openFile } from '../places/filePlace.ts';
import { RecordCounter } from '../places/recordCounter.ts';
import { counted } from '../texts.ts';

/** The result of one check of `identity doctor`. */
export interface Check {
  /** What was checked, such as `clock`. */
  readonly subject: string;
  readonly status: 'ok' | 'warning' | 'failed';
  /** What was found and, unless that is as it should be, what to do. */
  readonly message: string;
}

/** What a check has found. */
export type Finding = Omit<Check, 'subject'>;

export const ok = (message: string): Finding => ({ status: 'ok', message });
export const warning = (message: string): Finding => ({ status: 'warning', message });
export const failed = (message: string): Finding => ({ status: 'failed', message });

/** Runs one check. An error is a finding: its message says what to do. */
export async function check(subject: string, find: () => Promise<Finding> | Finding): Promise<Check> {
  try {
    return { subject, ...(await find()) };
  } catch (error) {
    const { message } = describeFault(error);
    // Some faults have several lines.
    const lines = message.split('\n').map((line) => line.trim());
    return { subject, ...failed(lines.filter((line) => line !== '').join('; ')) };
  }
}

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
  return [opened, await check('disk', () => findSpace(directory))];
}

/** Says whether a directory's disk has room. */
async function findSpace(directory: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  const text = `${(free / 1e9).toFixed(1)} GB are free in ${directory}`;
  return free < MIN_FREE_BYTES ? warning(`only ${text}: free some before an import`) : ok(text);
}

const wholeFile = exportOptions({
  options: { org: [], 'exclude-org': [], with: undefined, timeout: undefined, 'unknown-states': undefined },
});

/** Checks a file: whether it is an export file, or can become one. */
export async function checkFile(path: string, signal: AbortSignal): Promise<Check[]> {
  const directory = dirname(resolve(path));
  if (!existsSync(path))
    return [
      await check('file', async () => {
        await access(directory, constants.W_OK);
        return ok(`${path} does not exist, and can be written`);
      }),
      await check('disk', () => findSpace(directory)),
    ];
  return [
    await check('file', async () => {
      const counter = new RecordCounter(path);
      await using content = await openFile(path).readExport(wholeFile, signal);
      let bytes = 0;
      for await (const chunk of counter.count(content.open(signal))) bytes += chunk.byteLength;
      return ok(
        `${path} holds ${counted(counter.organisations, 'organisation')} with ${counted(counter.records, 'record')}, ${counted(bytes, 'byte')}`,
      );
    }),
    await check('file permissions', () => findExposure(path)),
  ];
}

function findExposure(path: string): Finding {
  let finding = ok('only its owner can read and change it');
  checkOwn(path, 'examined', (problem) => {
    finding = warning(problem);
  });
  return finding;
}

/** Checks an object, its bucket and the credentials, without writing. */
export async function checkObject(location: ObjectLocation, signal: AbortSignal): Promise<Check[]> {
  return [
    await check('object', async () => {
      try {
        const { size } = await createCloudStorage().pin(location, signal);
        return ok(`the object can be read, ${counted(size, 'byte')}; it is never overwritten`);
      } catch (error) {
        if (!(error instanceof IdentityError)) throw error;
        if (error.code === 'NOT_FOUND') return ok('bucket and credentials are good, and the name is free');
        // An account that may only write is enough for an export.
        if (error.code === 'PERMISSION_DENIED') return warning(`it cannot be read: ${error.message}`);
        return failed(error.message);
      }
    }),
  ];
}
