import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { documentId, type Store } from '../../../shared/store/store.ts';
import { type Running, startProgram } from '../../../tools/program.ts';
import { identity, identityJson } from '../../support/command.ts';
import { describeWithFirestore } from '../../support/emulators/withFirestore.ts';
import { entangledOrganisations } from '../../support/fixtures/entangledOrganisations.ts';
import { databaseOptions, placeOfLocation } from '../../support/places/locations.ts';
import { testDirectory } from '../../support/places/servedPlace.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { contentsOf, readDatabase } from '../../support/stores/database.ts';
import { firestore, keyEnvironment, openTestStore } from '../../support/stores/stores.ts';

const COUNT = 4;
const tasks = [0, 1, 2, 3];
const orgs = entangledOrganisations(12, 300);
const orgIds = orgs.map(({ orgId }) => orgId);
const result = z.looseObject({ event: z.literal('result'), summary: z.looseObject({ failed: z.strictObject({}) }) });

async function newDatabase() {
  const location = await firestore.newLocation();
  const env = keyEnvironment(location);
  await identityJson(['init', ...databaseOptions(location)], { env });
  return { place: placeOfLocation(location), env, store: await openTestStore(firestore, location) };
}

/** Waits until some records are written. */
async function untilWritten(store: Store, users: readonly string[]): Promise<void> {
  const keys = users.map((userId) => ({ collection: 'users' as const, id: documentId(userId) }));
  const areThere = async () => (await store.getMany(keys, [])).every((document) => document !== undefined);
  await vi.waitUntil(areThere, { timeout: 300_000, interval: 20 });
}

describeWithFirestore('an import in four processes', { timeout: 600_000 }, () => {
  it('ends with the same records as an undivided one, after all and then one of them were killed', async () => {
    const file = join(await testDirectory(), 'ring.json');
    await writeFile(file, JSON.stringify({ orgs }));
    const whole = await newDatabase();
    const undivided = await identity(['import', file, '--to', whole.place], { env: whole.env });
    expect(undivided.code, undivided.stderr).toBe(0);

    const { place, env, store } = await newDatabase();
    const [program, script] = identityProgram;
    const start = (index: number, execution: string): Promise<Running> =>
      startProgram(program, [script, 'import', file, '--to', place, '--json'], /"event":/, {
        env: {
          ...env,
          CLOUD_RUN_TASK_INDEX: String(index),
          CLOUD_RUN_TASK_COUNT: String(COUNT),
          CLOUD_RUN_EXECUTION: execution,
        },
      });
    const first = await Promise.all(tasks.map((index) => start(index, 'job-1')));
    await untilWritten(store, ['user-0-0']);
    for (const { code } of await Promise.all(first.map((task) => task.stop('SIGKILL')))) expect(code).toBeNull();
    expect(contentsOf(await readDatabase(store), orgIds).size).toBeLessThan(
      contentsOf(await readDatabase(whole.store), orgIds).size,
    );

    const second = await Promise.all(tasks.map((index) => start(index, 'job-2')));
    await untilWritten(store, ['user-0-299', 'user-5-299']);
    const [killed, ...others] = second;
    expect(await killed?.stop('SIGKILL')).toMatchObject({ code: null });
    const retried = await start(0, 'job-2');
    const ended = await Promise.all([retried, ...others].map((task) => task.ended()));
    for (const { code, stdout, stderr } of ended) {
      expect(code, stderr).toBe(0);
      result.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
    }
    expect(contentsOf(await readDatabase(store), orgIds)).toEqual(contentsOf(await readDatabase(whole.store), orgIds));
  });

  it('is refused where tasks cannot divide it', async () => {
    const file = join(await testDirectory(), 'ring.json');
    await writeFile(file, JSON.stringify({ orgs: [] }));
    const { place, env } = await newDatabase();
    const call = async (args: readonly string[], variables: Readonly<Record<string, string>>) => {
      const { code, stderr } = await identity(['import', file, '--to', place, ...args], {
        env: { ...env, ...variables },
      });
      return [code, stderr];
    };
    const task = { CLOUD_RUN_TASK_INDEX: '1', CLOUD_RUN_TASK_COUNT: '4', CLOUD_RUN_EXECUTION: 'job-1' };
    const excluded =
      'identity: CLOUD_RUN_TASK_COUNT above 1 excludes --on-conflict overwrite and --dry-run: use one task\n';
    expect(await call(['--dry-run'], task)).toEqual([64, excluded]);
    expect(await call(['--on-conflict', 'overwrite'], task)).toEqual([64, excluded]);
    expect(await call([], { ...task, CLOUD_RUN_EXECUTION: '' })).toEqual([
      64,
      expect.stringContaining('CLOUD_RUN_EXECUTION must be set, the same for all tasks'),
    ]);
    expect(await call([], { ...task, CLOUD_RUN_TASK_INDEX: '4' })).toEqual([
      64,
      'identity: CLOUD_RUN_TASK_INDEX must be less than CLOUD_RUN_TASK_COUNT\n',
    ]);
  });
});
