import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import { z } from 'zod';
import { type ProgramOptions, type Running, startProgram } from '../../../tools/program.ts';
import { identityJson } from '../command.ts';
import { emulatorMasterKey } from '../emulators/emulatorDatabase.ts';
import { describeWithFirestore } from '../emulators/withFirestore.ts';
import { importInto } from '../http/wire.ts';
import { type HostedCommand, startHosted } from '../processes/hostedCommand.ts';
import { identityProgram, serverSettings } from '../processes/programs.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../processes/temporaryDirectory.ts';
import type { Instance } from './deployments.ts';

/** The form of a personal access token. */
export const tokenPattern = /^idpat_[\w-]{51}$/;

const initialised = z.strictObject({
  orgId: z.string().regex(/^\d{18}$/),
  userId: z.string().regex(/^\d{18}$/),
  tokenId: z.string().regex(/^[0-9a-f]{32}$/),
  token: z.string().regex(tokenPattern),
  expiresAt: z.iso.datetime(),
});

/**
 * Describes the behaviour of commands with every kind of database. `newDatabase` returns the options for a new
 * database.
 */
export function describeDatabases(
  subject: string,
  tests: (newDatabase: () => Promise<readonly string[]>) => void,
): void {
  describe(`${subject} --data`, () => {
    const directories: TemporaryDirectory[] = [];
    afterAll(async () => {
      for (const directory of directories) await directory.remove();
    });
    tests(async () => {
      const directory = await temporaryDirectory();
      directories.push(directory);
      return ['--data', directory.path];
    });
  });
  describeWithFirestore(`${subject} --firestore`, () => {
    beforeAll(() => void vi.stubEnv('IDENTITY_MASTER_KEY', emulatorMasterKey));
    afterAll(() => void vi.unstubAllEnvs());
    tests(async () => ['--firestore', `cli-${randomUUID()}`]);
  });
}

/** Runs `identity init`. */
export async function init(database: readonly string[], ...more: string[]) {
  return initialised.parse(await identityJson(['init', ...more, ...database]));
}

/** Matches the output of `identity serve` once it is ready, and captures its URL. */
export const listening = /^listening on (https?:\/\/127\.0\.0\.1:\d+)\n/;

/** Starts `identity serve`, by default on a free port, and waits until it is ready. */
export async function serve(
  database: readonly string[],
  more: readonly string[] = [],
  env: ProgramOptions['env'] = {},
  port = '0',
): Promise<Running> {
  const [command, script] = identityProgram;
  const args = [script, 'serve', '--port', port, ...database, ...more];
  return startProgram(command, args, listening, { env: { ...serverSettings, ...env } });
}

/** Like `serve`, but in the process that all tests share. Does not log. */
export function serveHosted(
  database: readonly string[],
  more: readonly string[] = [],
  env: ProgramOptions['env'] = {},
): Promise<HostedCommand> {
  const args = ['serve', '--port', '0', ...database, ...more];
  return startHosted(args, { ...serverSettings, ...env, LOG_LEVEL: 'silent' }, listening);
}

/** An instance that `identity serve` serves while commands run. */
export interface ServedInstance {
  readonly database: readonly string[];
  readonly instance: Instance;
  /** The id of its IAM_OWNER. */
  readonly owner: string;
}

/** Placeholder values for an instance that is not served yet. */
export const notServed: ServedInstance = {
  database: [],
  instance: { url: '', token: '', database: undefined },
  owner: '',
};

/** Initialises a database, serves it and imports an organisation. `stop` expects that `serve` ends without an error. */
export async function serveSample(
  database: readonly string[],
  organisation: object,
): Promise<ServedInstance & { stop: () => Promise<void> }> {
  const made = await init(database);
  const running = await serveHosted(database);
  const instance = { url: running.ready[1] ?? '', token: made.token, database };
  await importInto(instance, { data_orgs: { orgs: [organisation] } });
  const stop = async () => {
    const { code, stdout } = await running.stop();
    expect({ code, stdout }).toEqual({ code: 0, stdout: running.ready[0] });
  };
  return { database, instance, owner: made.userId, stop };
}

/** The number of days until a date. */
export function daysFromNow(date: string): number {
  return (Date.parse(date) - Date.now()) / 86_400_000;
}
