import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { MigrationResult } from '../../cli/migrate/documents.ts';
import { startProgram } from '../../tools/program.ts';
import { identity } from '../support/command.ts';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { betweenServers, exportFileWith, readResult } from '../support/migrations/migrating.ts';
import { type RestartablePlace, restartablePlace } from '../support/migrations/restartablePlace.ts';
import { testDirectory } from '../support/places/servedPlace.ts';
import { identityProgram } from '../support/processes/programs.ts';
import { repetitions } from '../support/repetitions.ts';
import { sqlite } from '../support/stores/stores.ts';
import { randomOf } from './support/random.ts';

const HASH = '$2a$04$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';
const { people, rounds } = repetitions({ few: { people: 6_000, rounds: 1 }, many: { people: 100_000, rounds: 5 } });
const KILLS_OF_ONE_MIGRATION = 6;
/** Killed so late at most; a plan that is killed begins anew, so it has more time. */
const latestMs = repetitions({ few: { plan: 2_500, work: 1_500 }, many: { plan: 40_000, work: 10_000 } });
const secrets = ['--with', 'passwords,otp,keys'];

type Victim = 'client' | 'source' | 'target';
const victims: readonly Victim[] = ['client', 'source', 'target'];

async function filledPlace(): Promise<RestartablePlace> {
  const place = await restartablePlace(sqlite);
  const half = people / 2;
  const persons = Array.from({ length: people }, (_, index) =>
    person(`person-${index}`, { hashedPassword: { value: HASH } }),
  );
  const file = await exportFileWith(
    organisation('acme', { humanUsers: persons.slice(0, half) }),
    organisation('emca', { humanUsers: persons.slice(half) }),
  );
  expect((await identity(['import', file, '--to', place.database])).code).toBe(0);
  return place;
}

/** What a round of kills has met. */
interface Round {
  readonly result: MigrationResult;
  readonly kills: number;
}

/** Migrates to a new target; kills a client or a server again and again, and resumes until the end. */
async function migrateKilled(north: RestartablePlace, random: () => number): Promise<Round> {
  const south = await restartablePlace(sqlite);
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
    const isLast = kills === KILLS_OF_ONE_MIGRATION;
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
  const orgs = ['--org', 'acme', '--org', 'emca'];
  const compared = await identity(['compare', north.database, south.database, ...orgs, ...secrets]);
  expect(compared).toMatchObject({ code: 0, stdout: expect.stringMatching(/^equal\n/) });
  return readResult(stdout);
}

describe('a migration whose client, source and target are killed', () => {
  it('is resumed to an equal result', async () => {
    const random = randomOf('killed migration');
    const north = await filledPlace();
    let struck = 0;
    for (let round = 0; round < rounds; round++) {
      const { result, kills } = await migrateKilled(north, random);
      struck += kills;
      expect(result).toMatchObject({
        outcome: 'done',
        moved: { organisations: 2, records: people + 2 },
        proof: { unexpected: 0, expected: 0, sections: { humanUsers: { equal: people } }, sourceUnchanged: true },
        logins: { withPassword: people, ready: people },
        source: { digest: result.target.digest },
      });
    }
    process.stderr.write(`${struck} kills in ${rounds} migrations of ${people} people\n`);
    expect(struck).toBeGreaterThan(0);
  });
});
