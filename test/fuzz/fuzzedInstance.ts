import { join } from 'node:path';
import { openStore } from '../../shared/store/openStore.ts';
import { eventsIn } from '../support/audit/storedTrail.ts';
import { person, zitadelExport } from '../support/fixtures/organisations.ts';
import { exportFrom, importInto } from '../support/http/wire.ts';
import { init, serve } from '../support/instances/commandInstance.ts';
import type { Instance } from '../support/instances/deployments.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { readDatabase } from '../support/stores/database.ts';
import { violationsOf } from '../support/stores/invariants.ts';
import type { Known } from './generatedRequest.ts';

/** A server process with a filled database. */
export interface FuzzedInstance extends Instance {
  readonly known: Known;
  /** Exports everything, and returns the records that an empty instance would reject. */
  lossesOfMigration(): Promise<readonly object[]>;
  /** Ends the process as an operator would. Returns the problems of its shutdown, its database and its audit trail. */
  stop(): Promise<readonly string[]>;
  /** Ends the process at once, and removes everything. */
  remove(): Promise<void>;
}

const userIds = Array.from({ length: 3_000 }, (_, index) => `user-${index}`);

/** A clear password takes a quarter of a second of a core: use few, and a cheap hash. */
const environment = { BCRYPT_COST: '10', MAX_CLEAR_PASSWORDS: '2', LOG_LEVEL: 'error', MAX_REQUEST_BYTES: '8000000' };

/** Starts an instance. */
export async function startFuzzedInstance(): Promise<FuzzedInstance> {
  const directory = await temporaryDirectory();
  const { instance, data, program } = await startInstance(join(directory.path, 'data'));
  const humanUsers = userIds.map((userId) => ({ ...person(userId), otpEmail: true }));
  const users = { orgId: 'users', org: { name: 'Users' }, humanUsers };
  await importInto(instance, { data_orgs: { orgs: [...zitadelExport('export-full'), users] } });
  const exported = await exportFrom(instance, { excluded_org_ids: ['users'] });
  return {
    ...instance,
    known: { exported, userIds },
    lossesOfMigration: async () =>
      lossesInto(join(directory.path, 'empty'), await exportFrom(instance, { with_keys: true })),
    stop: async () => {
      const { code, stderr } = await program.stop('SIGTERM');
      const ending = code === 0 && stderr === '' ? [] : [`ended with ${code}: ${stderr.slice(0, 5_000)}`];
      return [...ending, ...(await databaseFaults(data)), ...(await auditFaults(data))];
    },
    remove: async () => {
      await program.stop('SIGKILL');
      await directory.remove();
    },
  };
}

async function startInstance(data: string) {
  const { token } = await init(['--data', data]);
  const program = await serve(['--data', data], [], environment);
  return { instance: { url: program.ready[1] ?? '', token, database: ['--data', data] }, data, program };
}

/** Imports a file into an empty instance without writing, and returns the rejected records. */
async function lossesInto(data: string, file: unknown): Promise<readonly object[]> {
  const { instance, program } = await startInstance(data);
  try {
    const { errors = [] } = await importInto(instance, { data_orgs: file, dry_run: true, with_keys: true });
    return errors;
  } finally {
    await program.stop();
  }
}

async function databaseFaults(directory: string): Promise<readonly string[]> {
  const store = await openStore({ kind: 'sqlite', directory });
  try {
    return violationsOf(await readDatabase(store));
  } finally {
    await store.close();
  }
}

/** Each started call must have ended. */
async function auditFaults(directory: string): Promise<readonly string[]> {
  const counts = new Map<string, number>();
  for (const { event } of await eventsIn(directory)) counts.set(event, (counts.get(event) ?? 0) + 1);
  const isUneven = (name: string) => counts.get(`${name}.started`) !== counts.get(`${name}.finished`);
  return ['export', 'import'].filter(isUneven).map((name) => `calls of ${name} without an end in the audit trail`);
}
