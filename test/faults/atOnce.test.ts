import { beforeAll, expect, it } from 'vitest';
import { openStore } from '../../shared/store/openStore.ts';
import type { Store } from '../../shared/store/store.ts';
import { send } from '../support/http/wire.ts';
import { importReport, testInstance } from '../support/instances/testInstance.ts';
import { repetitions } from '../support/repetitions.ts';
import { type Contents, contentsOf, readDatabase } from '../support/stores/database.ts';
import { violationsOf } from '../support/stores/invariants.ts';
import { describeStores } from '../support/stores/stores.ts';
import { faultTable } from './support/faultTable.ts';
import { cloudFunction, type Killable, selfHosted } from './support/killable.ts';
import { changedMigration, migration } from './support/migration.ts';
import { survived } from './support/survived.ts';
import { expectAllIn, expectComplete, type Undisturbed, undisturbed } from './support/undisturbed.ts';

const ROUNDS = repetitions({ few: 1, many: 10 });

const file = migration(150);
let expected: Undisturbed;
let other: Undisturbed;
beforeAll(async () => {
  expected = await undisturbed(file);
  other = await undisturbed(changedMigration(file));
});

describeStores('two processes of one instance', (kind) => {
  const make = kind.name === 'SQLite' ? selfHosted : cloudFunction;

  it(`${faultTable['same file twice'].fault}: ${faultTable['same file twice'].outcome}`, async (context) => {
    await inTwoProcesses(make, ROUNDS, async (store, sendBoth) => {
      const answers = await sendBoth(expected.body, expected.body);
      for (const text of answers) expectAllIn(text, expected);
      await expectComplete(store, expected);
    });
    survived(context, 'same file twice', kind.name, ROUNDS);
  });

  it(`${faultTable['two files'].fault}: ${faultTable['two files'].outcome}`, async (context) => {
    await inTwoProcesses(make, ROUNDS, async (store, sendBoth) => {
      const [first, second] = (await sendBoth(expected.body, other.body)).map((text) => lostIn(text));
      const database = await readDatabase(store);
      expect(violationsOf(database)).toEqual([]);
      const present = contentsOf(database, expected.orgIds);
      expect([...present.keys()].sort()).toEqual([...expected.contents.keys()].sort());
      const differing = ({ contents }: Undisturbed) => [...present].filter(([name, is]) => contents.get(name) !== is);
      const neither = differing(expected).filter(([name, is]) => other.contents.get(name) !== is);
      expect(neither).toEqual([]);
      expect([first, second]).toEqual([differing(expected).length, differing(other).length]);
    });
    survived(context, 'two files', kind.name, ROUNDS);
  });

  it(`${faultTable['overwrite at once'].fault}: ${faultTable['overwrite at once'].outcome}`, async (context) => {
    const overwriting = JSON.stringify({ ...JSON.parse(other.body), on_conflict: 'overwrite' });
    const differing = [...expected.contents].filter(([name, is]) => other.contents.get(name) !== is).length;
    await inTwoProcesses(make, ROUNDS, async (store, sendBoth) => {
      const [plain, second] = (await sendBoth(expected.body, overwriting)).map((text) => lostIn(text));
      expect([0, differing]).toContain(plain);
      expect(second).toBe(0);
      const database = await readDatabase(store);
      expect(violationsOf(database)).toEqual([]);
      expect(unnumbered(contentsOf(database, other.orgIds))).toEqual(unnumbered(other.contents));
    });
    survived(context, 'overwrite at once', kind.name, ROUNDS);
  });
});

/** Returns contents without the numbers of changes, which differ between created and overwritten records. */
function unnumbered(contents: Contents): unknown {
  return Object.fromEntries(
    [...contents].map(([name, content]) => [name, { ...JSON.parse(content), sequence: undefined }]),
  );
}

/** Counts the records of a file that the response reports as existing with other content. */
function lostIn(text: string): number {
  const { errors = [], summary } = importReport.parse(JSON.parse(text));
  const failed = Object.values(summary.failed).reduce((sum, count) => sum + count, 0);
  expect(errors).toHaveLength(failed);
  return failed;
}

/** Imports two bodies at the same time, by a served process and by this one, and returns their responses. */
type SendBoth = (first: string, second: string) => Promise<[first: string, second: string]>;

async function inTwoProcesses(
  make: () => Promise<Killable>,
  rounds: number,
  round: (store: Store, sendBoth: SendBoth) => Promise<void>,
): Promise<void> {
  for (let number = 0; number < rounds; number++) {
    await using cleanUp = new AsyncDisposableStack();
    const { location, start, remove } = await make();
    cleanUp.defer(remove);
    const store = await openStore(location);
    cleanUp.defer(() => store.close());
    const instance = await testInstance(store);
    const running = await start();
    cleanUp.defer(async () => void (await running.stop('SIGKILL')));
    const served = { url: running.ready[1] ?? '' };
    const post = (body: string) =>
      send(served, { method: 'POST', path: '/admin/v1/import', token: instance.token, body });
    const expectDone = ({ status, text }: { readonly status: number; readonly text: string }) => {
      expect(status, text).toBe(200);
      return text;
    };
    await round(store, async (first, second) => {
      const [posted, own] = await Promise.all([post(first), instance.attempt('import', JSON.parse(second))]);
      return [expectDone(posted), expectDone(own)];
    });
  }
}
