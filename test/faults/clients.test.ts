import { type ClientRequest, request as httpRequest } from 'node:http';
import { beforeAll, expect, it } from 'vitest';
import { serve } from '../../shared/http/serve.ts';
import { openStore } from '../../shared/store/openStore.ts';
import type { Store } from '../../shared/store/store.ts';
import { contentsOf, readDatabase } from '../support/database.ts';
import { violationsOf } from '../support/invariants.ts';
import { describeStores, openTestStore, type StoreKind } from '../support/stores.ts';
import { importReport, type TestInstance, testInstance } from '../support/testInstance.ts';
import { send } from '../support/wire.ts';
import { anyMissing, arrival } from './support/arrival.ts';
import { isFull, randomOf } from './support/extent.ts';
import { faultTable } from './support/faultTable.ts';
import { cloudFunction, type Killable, selfHosted } from './support/killable.ts';
import { changedMigration, migration } from './support/migration.ts';
import { survived } from './support/survived.ts';
import { expectAllIn, expectComplete, expectSound, type Undisturbed, undisturbed } from './support/undisturbed.ts';

const DISCONNECTIONS = isFull ? 30 : 6;
const ROUNDS = isFull ? 10 : 1;
/** So many disconnect while they send their request, the others while their import runs. */
const SHARE_OF_UNSENT = 0.4;

const file = migration(150);
const changed = changedMigration(file);
let expected: Undisturbed;
let other: Undisturbed;
beforeAll(async () => {
  expected = await undisturbed(file);
  other = await undisturbed(changed);
});

describeStores(faultTable['client is gone'].fault, (kind) => {
  it(faultTable['client is gone'].outcome, async (context) => {
    const random = randomOf(`disconnections (${kind.name})`);
    let [store, instance] = await newInstance(kind);
    for (let time = 0; time < DISCONNECTIONS; time++) {
      if ((await expectSound(store, expected)).size === expected.contents.size)
        [store, instance] = await newInstance(kind);
      const before = await expectSound(store, expected);
      const record = random() < SHARE_OF_UNSENT ? undefined : anyMissing(expected.contents, before, random);
      const server = await serve({ app: instance.app, host: '127.0.0.1', port: 0 });
      const client = begin(server.url, instance);
      const bytes = Buffer.from(expected.body);
      if (record === undefined) await written(client, bytes.subarray(0, Math.floor(random() * bytes.length)));
      else {
        client.end(bytes);
        await arrival(store, record, new AbortController().signal);
      }
      client.destroy();
      // Resolves when the server has nothing more to do.
      await server.close();
      const after = await expectSound(store, expected);
      if (record === undefined) expect(after).toEqual(before);
    }
    const { status, text } = await instance.attempt('import', expected.body);
    expect(status, text).toBe(200);
    expectAllIn(text, expected);
    await expectComplete(store, expected);
    survived(context, 'client is gone', kind.name, DISCONNECTIONS);
  });
});

async function newInstance(kind: StoreKind): Promise<[Store, TestInstance]> {
  const store = await openTestStore(kind);
  return [store, await testInstance(store)];
}

function begin(url: string, { token }: TestInstance): ClientRequest {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(expected.body),
  };
  const client = httpRequest(`${url}/admin/v1/import`, { method: 'POST', headers });
  // It is this test that breaks the connection.
  client.on('error', () => undefined);
  return client;
}

function written(client: ClientRequest, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => client.write(bytes, () => resolve()));
}

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
});

/** How many of a file's records the answer says to be there with other content. */
function lostIn(text: string): number {
  const { errors = [], summary } = importReport.parse(JSON.parse(text));
  const failed = Object.values(summary.failed).reduce((sum, count) => sum + count, 0);
  expect(errors).toHaveLength(failed);
  return failed;
}

/** Sends two bodies at the same time, each to a process of its own, and returns their answers. */
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
    const { token } = await testInstance(store);
    const processes = await Promise.all([start(), start()]);
    for (const running of processes) cleanUp.defer(async () => void (await running.stop('SIGKILL')));
    const post = async (index: 0 | 1, body: string) => {
      const url = processes[index].ready[1] ?? '';
      const { status, text } = await send({ url }, { method: 'POST', path: '/admin/v1/import', token, body });
      expect(status, text).toBe(200);
      return text;
    };
    await round(store, (first, second) => Promise.all([post(0, first), post(1, second)]));
  }
}
