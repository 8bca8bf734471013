import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openStore } from '../../shared/store/openStore.ts';
import type { Store } from '../../shared/store/store.ts';
import { type Emulator, startEmulator } from '../../tools/firestoreEmulator.ts';
import { describeWithFirestore } from '../support/emulators/withFirestore.ts';
import { startTcpProxy, type TcpProxy } from '../support/http/tcpProxy.ts';
import { type TestInstance, testInstance } from '../support/instances/testInstance.ts';
import { areMany, repetitions } from '../support/repetitions.ts';
import { openTestStore, sqlite } from '../support/stores/stores.ts';
import { anyMissing, arrival } from './support/arrival.ts';
import { faultTable } from './support/faultTable.ts';
import { halfOf, migration } from './support/migration.ts';
import { randomOf } from './support/random.ts';
import { survived } from './support/survived.ts';
import { expectAllIn, expectComplete, expectSound, type Undisturbed, undisturbed } from './support/undisturbed.ts';

const TIMES = repetitions({ few: 1, many: 6 });
const SHORT_MILLISECONDS = 500;
const STOPPED_MILLISECONDS = 2_000;
const file = migration(150);
let expected: Undisturbed;
beforeAll(async () => {
  expected = await undisturbed(file);
});

/** An import in whose middle something happens to the database; `direct` reaches it all the same. */
async function importDuring(
  instance: TestInstance,
  direct: Store,
  random: () => number,
  happens: (answer: Promise<unknown>) => Promise<void>,
): Promise<{ status: number; text: string }> {
  // Some of it is there already, so that records are decided in transactions too.
  await instance.import({ data_orgs: { orgs: halfOf(file).orgs }, with_keys: true });
  // Of the phase in the middle, so that there is something left to write when it has arrived.
  const metadata = new Map([...expected.contents].filter(([name]) => name.startsWith('userMetadata/')));
  const record = anyMissing(metadata, await expectSound(direct, expected), random);
  const over = new AbortController();
  const answer = instance.attempt('import', expected.body).finally(() => over.abort());
  if (record !== undefined) await arrival(direct, record, over.signal);
  await happens(answer);
  return answer;
}

async function expectAnswered(answer: { status: number; text: string }, store: Store): Promise<void> {
  expect(answer.status, answer.text).toBe(200);
  expectAllIn(answer.text, expected);
  await expectComplete(store, expected);
}

/** A store whose emulator is at `address`; closed when the test has finished. */
async function storeAt(address: string, projectId: string): Promise<Store> {
  vi.stubEnv('FIRESTORE_EMULATOR_HOST', address);
  try {
    const store = await openStore({ kind: 'firestore', projectId, databaseId: '(default)' });
    onTestFinished(() => store.close());
    return store;
  } finally {
    vi.unstubAllEnvs();
  }
}

describeWithFirestore('Firestore', () => {
  let emulator: Emulator;
  let network: TcpProxy;
  beforeAll(async () => {
    const started = await startEmulator('1g', !areMany);
    if ('missing' in started) throw new Error(started.missing);
    emulator = started;
    network = await startTcpProxy(`http://${emulator.address}`);
    return async () => {
      await network.close();
      await emulator[Symbol.asyncDispose]();
    };
  });

  const throughNetwork = async (projectId: string) => {
    const direct = await storeAt(emulator.address, projectId);
    const store = await storeAt(new URL(network.url).host, projectId);
    return { direct, instance: await testInstance(direct, 'test', { store }) };
  };

  it(`${faultTable.stopped.fault}: ${faultTable.stopped.outcome}`, async (context) => {
    const random = randomOf('stops of the database');
    for (let time = 0; time < TIMES; time++) {
      const direct = await storeAt(emulator.address, `stopped-${time}`);
      const answer = await importDuring(await testInstance(direct), direct, random, async () => {
        emulator.signal('SIGSTOP');
        await setTimeout(STOPPED_MILLISECONDS);
        emulator.signal('SIGCONT');
      });
      await expectAnswered(answer, direct);
    }
    survived(context, 'stopped', 'Firestore', TIMES);
  });

  const moment = faultTable['unreachable for a moment'];
  it(`${moment.fault}: ${moment.outcome}`, async (context) => {
    const random = randomOf('moments without a network');
    for (let time = 0; time < TIMES; time++) {
      const { direct, instance } = await throughNetwork(`moment-${time}`);
      const answer = await importDuring(instance, direct, random, async () => {
        await network.refuse();
        await setTimeout(SHORT_MILLISECONDS);
        await network.accept();
      });
      await expectAnswered(answer, direct);
    }
    survived(context, 'unreachable for a moment', 'Firestore', TIMES);
  });

  it(`${faultTable.unreachable.fault}: ${faultTable.unreachable.outcome}`, async (context) => {
    const random = randomOf('times without a network');
    const times = Math.ceil(TIMES / 2);
    for (let time = 0; time < times; time++) {
      const { direct, instance } = await throughNetwork(`unreachable-${time}`);
      const { status, text } = await importDuring(instance, direct, random, async (answer) => {
        await network.refuse();
        await answer;
        await network.accept();
      });
      expect(status, text).toBe(503);
      await expectSound(direct, expected);
      await expectAnswered(await instance.attempt('import', expected.body), direct);
    }
    survived(context, 'unreachable', 'Firestore', times);
  });
});

describe('SQLite', () => {
  it(`${faultTable.locked.fault}: ${faultTable.locked.outcome}`, async (context) => {
    const random = randomOf('locks of the database');
    const times = Math.ceil(TIMES / 2);
    for (let time = 0; time < times; time++) {
      const location = await sqlite.newLocation();
      if (location.kind !== 'sqlite') throw new Error('the embedded store is in a directory');
      const store = await openTestStore(sqlite, location);
      const instance = await testInstance(store);
      using other = new DatabaseSync(join(location.directory, 'identity.sqlite'));
      const { status, text } = await importDuring(instance, store, random, async (answer) => {
        other.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
        await answer;
        other.exec('ROLLBACK');
      });
      expect(status, text).toBe(503);
      await expectSound(store, expected);
      await expectAnswered(await instance.attempt('import', expected.body), store);
    }
    survived(context, 'locked', 'SQLite', times);
  });
});
