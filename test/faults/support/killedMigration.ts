import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'vitest';
import type { MigrationResult } from '../../../cli/migrate/migrationDocuments.ts';
import { startProgram } from '../../../tools/program.ts';
import { identity } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { betweenServers, exportFileWith, readResult } from '../../support/migrations/migrating.ts';
import { type RestartablePlace, restartablePlace } from '../../support/migrations/restartablePlace.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { repetitions } from '../../support/repetitions.ts';
import { sqlite } from '../../support/stores/stores.ts';
import { randomOf } from './random.ts';

const HASH = '$2a$04$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';
/** The latest moment of a kill; a killed plan starts from the beginning, so it has more time. */
const latestMs = repetitions({ few: { plan: 2_500, work: 1_500 }, many: { plan: 40_000, work: 10_000 } });
const secrets = ['--with', 'passwords,otp,keys'];

type Victim = 'client' | 'source' | 'target';
const victims: readonly Victim[] = ['client', 'source', 'target'];

/** The size of a migration, and the number of its kills. */
interface Killed {
  /** The numbers of people of the organisations. */
  readonly sizes: readonly number[];
  readonly rounds: number;
  readonly killsOfOneMigration: number;
  /** Variables that set the limits of the servers. */
  readonly limits?: { readonly source?: Limits; readonly target?: Limits };
}

type Limits = Readonly<Record<string, string>>;

/** Migrates between two instances in rounds, each killed and resumed, and expects equal results. */
export async function expectMigratedAfterKills({
  sizes,
  rounds,
  killsOfOneMigration,
  limits = {},
}: Killed): Promise<void> {
  const random = randomOf('killed migration');
  const people = sizes.reduce((sum, size) => sum + size, 0);
  const north = await filledPlace(sizes, limits.source);
  let struck = 0;
  for (let round = 0; round < rounds; round++) {
    const { result, kills } = await migrateKilled(north, killsOfOneMigration, random, limits.target);
    struck += kills;
    expect(result).toMatchObject({
      outcome: 'done',
      moved: { organisations: sizes.length, records: people + sizes.length },
      proof: { unexpected: 0, expected: 0, sections: { humanUsers: { equal: people } }, sourceUnchanged: true },
      credentials: { withPassword: people, kept: people },
      source: { digest: result.target.digest },
    });
  }
  process.stderr.write(`${struck} kills in ${rounds} migrations of ${people} people\n`);
  expect(struck).toBeGreaterThan(0);
}

async function filledPlace(sizes: readonly number[], limits: Limits | undefined): Promise<RestartablePlace> {
  const place = await restartablePlace(sqlite, limits);
  const organisations = sizes.map((size, index) => {
    const persons = Array.from({ length: size }, (_, number) =>
      person(`${index}-person-${number}`, { hashedPassword: { value: HASH } }),
    );
    return organisation(`organisation-${index}`, { humanUsers: persons });
  });
  const file = await exportFileWith(...organisations);
  expect((await identity(['import', file, '--to', place.database])).code).toBe(0);
  return place;
}

/** The outcomes of a round of kills. */
interface Round {
  readonly result: MigrationResult;
  readonly kills: number;
}

/** Migrates to a new target; kills a client or a server up to this many times, and resumes until the end. */
async function migrateKilled(
  north: RestartablePlace,
  maxKills: number,
  random: () => number,
  limits: Limits | undefined,
): Promise<Round> {
  const south = await restartablePlace(sqlite, limits);
  const servers = { source: north, target: south };
  const directory = join(await testDirectory(), 'run');
  const begin = ['migrate', ...betweenServers(north, south), ...secrets, '--run-dir', directory];
  const resume = ['migrate', 'resume', '--run-dir', directory];
  const file = join(directory, 'state.json');
  const [command, script] = identityProgram;
  for (let kills = 0; ; kills++) {
    const victim = victims[Math.floor(random() * victims.length)] ?? 'client';
    const isPlanned = existsSync(file) && (await readFile(file, 'utf8')).includes('"confirmedAt"');
    const running = await startProgram(
      command,
      [script, ...(existsSync(file) ? resume : begin), '--yes', '--json'],
      /^/,
    );
    const isLast = kills === maxKills;
    if (!isLast) await setTimeout(random() * (isPlanned ? latestMs.work : latestMs.plan));
    if (!isLast && victim !== 'client') await servers[victim].kill();
    const { code, stdout, stderr } = await running.stop(isLast || victim !== 'client' ? 'SIGCONT' : 'SIGKILL');
    process.stderr.write(`killed ${isLast ? 'nobody' : victim}: ${code} ${stderr}${code === null ? '\n' : ''}`);
    await Promise.all([north.start(), south.start()]);
    if (code === 0) return { result: await checkMigrated(north, south, directory, stdout), kills };
    expect(isLast, stderr).toBe(false);
    if (victim !== 'client') expect(code).toBe(1);
    if (code === 1 && existsSync(file)) expect(stderr).toContain(`identity migrate resume --run-dir ${directory}\n`);
  }
}

async function checkMigrated(north: RestartablePlace, south: RestartablePlace, directory: string, stdout: string) {
  expect((await readdir(directory)).filter((name) => name.startsWith('export'))).toEqual([]);
  const without = ['--exclude-org', north.orgId, '--exclude-org', south.orgId];
  const compared = await identity(['compare', north.database, south.database, ...without, ...secrets]);
  expect(compared).toMatchObject({ code: 0, stdout: expect.stringMatching(/^equal\n/) });
  return readResult(stdout);
}
