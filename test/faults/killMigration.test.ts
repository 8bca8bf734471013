import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startProgram } from '../../tools/program.ts';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { betweenServers, exportFileWith, readResult } from '../support/migrations/migrating.ts';
import { type RestartablePlace, restartablePlace } from '../support/migrations/restartablePlace.ts';
import { testDirectory } from '../support/places/servedPlace.ts';
import { identity, identityProgram } from '../support/processes/programs.ts';
import { repetitions } from '../support/repetitions.ts';
import { sqlite } from '../support/stores/stores.ts';
import { randomOf } from './support/random.ts';

const HASH = '$2a$04$0123456789012345678901uBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB';
const { people, kills } = repetitions({ few: { people: 6_000, kills: 6 }, many: { people: 100_000, kills: 20 } });
/** Long enough for each step to be hit, and short enough for some progress between two kills. */
const LATEST_MS = repetitions({ few: 2_500, many: 15_000 });
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

describe('a migration whose client, source and target are killed in turn', () => {
  it('is resumed to an equal result', async () => {
    const random = randomOf('killed migration');
    const [north, south] = [await filledPlace(), await restartablePlace(sqlite)];
    const directory = join(await testDirectory(), 'run');
    const begin = ['migrate', ...betweenServers(north, south), ...secrets, '--run-dir', directory];
    const resume = ['migrate', 'resume', '--run-dir', directory];
    const [command, script] = identityProgram;
    let begun = false;
    let ended: Awaited<ReturnType<typeof identity>> | undefined;
    for (let killed = 0; killed < kills && ended?.code !== 0; killed++) {
      const victim = victims[killed % victims.length] ?? 'client';
      const args = [script, ...(begun ? resume : begin), '--yes', '--json'];
      const running = await startProgram(command, args, /^/);
      await setTimeout(random() * LATEST_MS);
      if (victim === 'client') void running.stop('SIGKILL');
      else await (victim === 'source' ? north : south).kill();
      const { code, stdout, stderr } = await running.stop(victim === 'client' ? 'SIGKILL' : 'SIGCONT');
      process.stderr.write(`killed ${victim}: ${code} ${stderr}`);
      if (victim !== 'client') expect([0, 1], stderr).toContain(code);
      if (code === 1 && begun) expect(stderr).toContain(`identity migrate resume --run-dir ${directory}\n`);
      begun ||= existsSync(join(directory, 'state.json'));
      await Promise.all([north.start(), south.start()]);
      if (code === 0) ended = { code, stdout, stderr, trail: '' };
    }
    ended ??= await identity([...resume, '--yes', '--json']);
    expect(ended.code, ended.stderr).toBe(0);
    const result = readResult(ended.stdout);
    expect(result).toMatchObject({
      outcome: 'done',
      moved: { organisations: 2, records: people + 2 },
      proof: { unexpected: 0, expected: 0, sections: { humanUsers: { equal: people } }, sourceUnchanged: true },
      logins: { withPassword: people, ready: people },
      source: { digest: result.target.digest },
    });
    expect((await readdir(directory)).filter((name) => name.startsWith('export'))).toEqual([]);
    const compared = await identity([
      'compare',
      north.database,
      south.database,
      '--org',
      'acme',
      '--org',
      'emca',
      ...secrets,
    ]);
    expect(compared).toMatchObject({ code: 0, stdout: expect.stringMatching(/^equal\n/) });
  });
});
