import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createServiceAccount } from '../../../local/storage/serviceAccountKey.ts';
import { openStore } from '../../../shared/store/openStore.ts';
import { run } from '../../../tools/program.ts';
import { eventsIn } from '../../support/audit/storedTrail.ts';
import { identityJson } from '../../support/command.ts';
import { type LocalBucket, startLocalBucket } from '../../support/emulators/localBucket.ts';
import { person, zitadelExport } from '../../support/fixtures/organisations.ts';
import { exportFrom, importInto } from '../../support/http/wire.ts';
import { init, serve } from '../../support/instances/commandInstance.ts';
import type { Instance } from '../../support/instances/deployments.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { violationsOf } from '../../support/stores/invariants.ts';
import type { Known } from '../kinds/kind.ts';

/** A server process with a filled database and a bucket. */
export interface FuzzedInstance extends Instance {
  readonly known: Known;
  /** The process's memory, in bytes. */
  memory(): Promise<number>;
  /**
   * The process's open files and connections, but for those of the database file itself: of these, SQLite keeps as many as
   * there were snapshots at once, and uses them again.
   */
  openFiles(): Promise<readonly string[]>;
  /** Exports everything, and returns the records that an empty instance would not take. */
  lossesOfMigration(): Promise<readonly object[]>;
  /** Ends the process as an operator would, and returns everything that is wrong with its end and with what it leaves behind. */
  stop(): Promise<readonly string[]>;
  /** Ends the process at once, and removes everything. */
  remove(): Promise<void>;
}

const USERS = 3_000;
const userIds = Array.from({ length: USERS }, (_, index) => `user-${index}`);

/** Clear passwords cost a quarter of a second of a core each: few are enough, and cheap ones. */
const environment = {
  BCRYPT_COST: '10',
  MAX_CLEAR_PASSWORDS: '2',
  LOG_LEVEL: 'error',
  MAX_REQUEST_BYTES: '8000000',
  MAX_CONNECTIONS: '10000',
};

/** Starts an instance. */
export async function startFuzzedInstance(): Promise<FuzzedInstance> {
  const directory = await temporaryDirectory();
  const bucket = await startLocalBucket();
  const data = join(directory.path, 'data');
  const { token } = await init(['--data', data]);
  const program = await serve(['--data', data], [], { ...environment, STORAGE_EMULATOR_HOST: bucket.url });
  const instance = { url: program.ready[1] ?? '', token, database: ['--data', data] };
  const humanUsers = userIds.map((userId) => ({ ...person(userId), otpEmail: true }));
  // The workers that hash clear passwords start with the first ones, and stay.
  const hashed = ['first', 'second'].map((userId) => person(userId, { password: 'Fuzzed-password-1' }));
  const users = { orgId: 'users', org: { name: 'Users' }, humanUsers: [...humanUsers, ...hashed] };
  await importInto(instance, { data_orgs: { orgs: [...zitadelExport('export-full'), users] } });
  await startCheckpoints(instance);
  const exported = await exportFrom(instance, { excluded_org_ids: ['users'] });
  return {
    ...instance,
    known: { exported, userIds, keyFiles: await keyFilesOf(bucket, directory.path) },
    memory: async () => Number((await run('ps', ['-o', 'rss=', '-p', String(program.pid)])).stdout) * 1_024,
    openFiles: async () => {
      const links = (await readdir(`/proc/${program.pid}/fd`)).map((name) => linkOf(`/proc/${program.pid}/fd/${name}`));
      return (await Promise.all(links)).filter((link) => link !== '' && !link.endsWith('/identity.sqlite'));
    },
    lossesOfMigration: async () =>
      lossesInto(join(directory.path, 'empty'), await exportFrom(instance, { with_keys: true })),
    stop: async () => {
      const { code, stderr } = await program.stop('SIGTERM');
      const ending = code === 0 && stderr === '' ? [] : [`ended with ${code}: ${stderr.slice(0, 5_000)}`];
      return [...ending, ...(await databaseFaults(data)), ...(await auditFaults(data))];
    },
    remove: async () => {
      await program.stop('SIGKILL');
      await bucket.close();
      await directory.remove();
    },
  };
}

/**
 * Writes, and deletes, more than the write-ahead log may grow by: the thread that moves it into the database starts then,
 * and stays.
 */
async function startCheckpoints(instance: Instance): Promise<void> {
  const value = Buffer.alloc(450_000).toString('base64');
  const users = Array.from({ length: 9 }, (_, number) => `padded-${number}`);
  for (const userId of users) {
    const userMetadata = Array.from({ length: 8 }, (_, key) => ({ id: userId, key: `key-${key}`, value }));
    const org = { orgId: userId, org: { name: userId }, humanUsers: [person(userId)], userMetadata };
    await importInto(instance, { data_orgs: { orgs: [org] } });
  }
  await identityJson(['org', 'delete', ...users, ...(instance.database ?? []), '--yes']);
}

/** What a descriptor leads to, without the number of a connection; empty if it is closed meanwhile. */
async function linkOf(path: string): Promise<string> {
  const link = await readlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return link.replace(/:\[\d+\]$/, '');
}

/** Imports a file into an empty instance without writing, and returns the records that are rejected. */
async function lossesInto(data: string, file: unknown): Promise<readonly object[]> {
  const { token } = await init(['--data', data]);
  const program = await serve(['--data', data], [], environment);
  try {
    const instance = { url: program.ready[1] ?? '', token, database: ['--data', data] };
    const { errors = [] } = await importInto(instance, { data_orgs: file, dry_run: true, with_keys: true });
    return errors;
  } finally {
    await program.stop();
  }
}

/** Everything that is wrong in the database that a server leaves behind. */
async function databaseFaults(directory: string): Promise<readonly string[]> {
  const store = await openStore({ kind: 'sqlite', directory });
  try {
    return violationsOf(await readDatabase(store));
  } finally {
    await store.close();
  }
}

/** Everything that is wrong in the audit trail that a server leaves behind: each call that has started must have ended. */
async function auditFaults(directory: string): Promise<readonly string[]> {
  const faults: string[] = [];
  const counts = new Map<string, number>();
  for (const { event } of await eventsIn(directory)) counts.set(event, (counts.get(event) ?? 0) + 1);
  for (const name of ['export', 'import']) {
    const [started = 0, ended = 0] = [counts.get(`${name}.started`), counts.get(`${name}.finished`)];
    if (started !== ended) faults.push(`${started} × ${name}.started, but ${ended} × ${name}.finished`);
  }
  return faults;
}

/** Returns the key files of the bucket's account, and of an unknown one. */
async function keyFilesOf({ keyFile }: LocalBucket, directory: string): Promise<readonly string[]> {
  const { json } = await createServiceAccount({ file: join(directory, 'unknown.json'), name: 'unknown' });
  return [await readFile(keyFile, 'utf8'), json];
}
