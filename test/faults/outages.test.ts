import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../tools/firestoreEmulator.ts';
import { describeWithFirestore } from '../support/emulators/withFirestore.ts';
import { startTcpProxy, type TcpProxy } from '../support/http/tcpProxy.ts';
import { areMany, repetitions } from '../support/repetitions.ts';
import { openTestStore, sqlite } from '../support/stores/stores.ts';
import {
  type DisturbedImport,
  disturbedImport,
  expectAnswered,
  expectResumable,
  importDuring,
  storeAt,
  withTimeout,
} from './support/disturbedImport.ts';
import { faultTable } from './support/faultTable.ts';
import { migration } from './support/migration.ts';
import { randomOf } from './support/random.ts';
import { survived } from './support/survived.ts';
import { expectSound, type Undisturbed, undisturbed } from './support/undisturbed.ts';

const TIMES = repetitions({ few: 1, many: 6 });
const SHORT_MS = 500;
const STOPPED_MS = 2_000;
const file = migration(150);
let expected: Undisturbed;
beforeAll(async () => {
  expected = await undisturbed(file);
});

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

  const throughNetwork = async (projectId: string): Promise<DisturbedImport> => {
    const direct = await storeAt(emulator.address, projectId);
    const store = await storeAt(new URL(network.url).host, projectId);
    return disturbedImport(direct, expected, store);
  };

  it(`${faultTable.stopped.fault}: ${faultTable.stopped.outcome}`, async (context) => {
    const random = randomOf('stops of the database');
    for (let time = 0; time < TIMES; time++) {
      const direct = await storeAt(emulator.address, `stopped-${time}`);
      const answer = await importDuring(await disturbedImport(direct, expected), random, {
        begin: async () => emulator.signal('SIGSTOP'),
        end: async () => {
          await setTimeout(STOPPED_MS);
          emulator.signal('SIGCONT');
        },
      });
      await expectAnswered(answer, direct, expected);
    }
    survived(context, 'stopped', 'Firestore', TIMES);
  });

  const moment = faultTable['unreachable for a moment'];
  it(`${moment.fault}: ${moment.outcome}`, async (context) => {
    const random = randomOf('moments without a network');
    for (let time = 0; time < TIMES; time++) {
      const disturbed = await throughNetwork(`moment-${time}`);
      const answer = await importDuring(disturbed, random, {
        begin: () => network.refuse(),
        end: async () => {
          await setTimeout(SHORT_MS);
          await network.accept();
        },
      });
      await expectAnswered(answer, disturbed.direct, expected);
    }
    survived(context, 'unreachable for a moment', 'Firestore', TIMES);
  });

  it(`${faultTable.unreachable.fault}: ${faultTable.unreachable.outcome}`, async (context) => {
    const random = randomOf('times without a network');
    const times = Math.ceil(TIMES / 2);
    for (let time = 0; time < times; time++) {
      const disturbed = await throughNetwork(`unreachable-${time}`);
      const body = withTimeout(expected, '10s');
      const answer = await importDuring({ ...disturbed, body }, random, {
        begin: () => network.refuse(),
        end: async (ended) => {
          await ended;
          await network.accept();
        },
      });
      await expectResumable(answer, disturbed);
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
      const direct = await openTestStore(sqlite, location);
      const disturbed = await disturbedImport(direct, expected);
      using other = new DatabaseSync(join(location.directory, 'identity.sqlite'));
      const { status, text } = await importDuring(disturbed, random, {
        begin: async () => {
          // A commit of this process that has the lock ends first.
          await setImmediate();
          other.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
        },
        end: async (ended) => {
          await ended;
          other.exec('ROLLBACK');
        },
      });
      expect(status, text).toBe(503);
      await expectSound(direct, expected);
      await expectAnswered(await disturbed.instance.attempt('import', expected.body), direct, expected);
    }
    survived(context, 'locked', 'SQLite', times);
  });
});
