import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { routes } from '../../functions/removeOtpEmail/app.ts';
import { enableOtpEmail } from '../../shared/accounts/userAccounts.ts';
import { createApp } from '../../shared/http/app.ts';
import { type Emulator, startEmulator } from '../../tools/firestoreEmulator.ts';
import { memoryTrail } from '../support/audit/memoryTrail.ts';
import { describeWithFirestore } from '../support/emulators/withFirestore.ts';
import { type GrpcProxy, startGrpcProxy } from '../support/http/grpcProxy.ts';
import { startTcpProxy, type TcpProxy } from '../support/http/tcpProxy.ts';
import { areMany, repetitions } from '../support/repetitions.ts';
import { readUser } from '../support/stores/documents.ts';
import { openTestStore, sqlite } from '../support/stores/stores.ts';
import {
  disturbedImport,
  expectAnswered,
  expectResumable,
  importDuring,
  storeAt,
  withTimeout,
} from './support/disturbedImport.ts';
import { type FaultName, faultTable } from './support/faultTable.ts';
import { migration } from './support/migration.ts';
import { randomOf } from './support/random.ts';
import { survived } from './support/survived.ts';
import { expectSound, type Undisturbed, undisturbed } from './support/undisturbed.ts';

const TIMES = repetitions({ few: 1, many: 6 });
const SHORT_MS = 500;
const STOPPED_MS = 2_000;
/** With full delays, an operation that is rejected so often takes about a minute. */
const REJECTIONS = 20;
const BATCHES_IN_FLIGHT = 4;
const QUERIES = 40;
let expected: Undisturbed;
beforeAll(async () => {
  expected = await undisturbed(migration(150));
});

const titled = (name: FaultName) => `${faultTable[name].fault}: ${faultTable[name].outcome}`;

/** A fault of the database from the middle of an import on. */
interface Outage {
  readonly name: FaultName;
  /** The address of the database for the import. */
  readonly address: () => string;
  readonly begin: () => unknown;
  readonly end?: (answer: Promise<unknown>) => Promise<unknown>;
  /** Whether the import reaches its timeout; otherwise it succeeds. */
  readonly isLasting?: true;
  /** The number of calls that the database must reject. */
  readonly rejections?: number;
}

describeWithFirestore('Firestore', () => {
  let emulator: Emulator;
  let connections: TcpProxy;
  let calls: GrpcProxy;
  beforeAll(async () => {
    const started = await startEmulator('1g', !areMany);
    if ('missing' in started) throw new Error(started.missing);
    emulator = started;
    connections = await startTcpProxy(`http://${emulator.address}`);
    calls = await startGrpcProxy(emulator.address);
    return async () => {
      await calls.close();
      await connections.close();
      await emulator[Symbol.asyncDispose]();
    };
  });
  afterEach(() => {
    calls.throttle(0);
    vi.restoreAllMocks();
  });

  function throttle(times: number, method?: 'RunQuery'): void {
    // Scales the random delays down, so that the test takes seconds.
    vi.spyOn(Math, 'random').mockReturnValue(0.02);
    calls.throttle(times, method);
  }

  const outages: readonly Outage[] = [
    {
      name: 'stopped',
      address: () => emulator.address,
      begin: () => emulator.signal('SIGSTOP'),
      end: () => setTimeout(STOPPED_MS).then(() => emulator.signal('SIGCONT')),
    },
    {
      name: 'unreachable for a moment',
      address: () => new URL(connections.url).host,
      begin: () => connections.refuse(),
      end: () => setTimeout(SHORT_MS).then(() => connections.accept()),
    },
    {
      name: 'unreachable',
      address: () => new URL(connections.url).host,
      begin: () => connections.refuse(),
      end: (answer) => answer.then(() => connections.accept()),
      isLasting: true,
    },
    {
      name: 'throttled during an import',
      address: () => calls.address,
      begin: () => throttle(BATCHES_IN_FLIGHT * REJECTIONS),
      rejections: BATCHES_IN_FLIGHT * REJECTIONS,
    },
    {
      name: 'throttled to the end',
      address: () => calls.address,
      begin: () => throttle(Number.POSITIVE_INFINITY),
      end: (answer) => answer.then(() => calls.throttle(0)),
      isLasting: true,
    },
  ];

  it.for(outages.map((outage) => [titled(outage.name), outage] as const))(
    '%s',
    async ([title, { name, address, begin, end, isLasting = false, rejections }], context) => {
      const random = randomOf(title);
      for (let time = 0; time < TIMES; time++) {
        const { direct, ...disturbed } = await disturbedAt(address(), `${name}-${time}`);
        const body = isLasting ? withTimeout(expected, '10s') : expected.body;
        const before = calls.throttled();
        const answer = await importDuring({ direct, ...disturbed, body }, random, {
          begin: async () => void (await begin()),
          end: async (ended) => void (await end?.(ended)),
        });
        if (rejections !== undefined) expect(calls.throttled() - before).toBe(rejections);
        if (isLasting) await expectResumable(answer, { direct, ...disturbed });
        else await expectAnswered(answer, direct, expected);
      }
      survived(context, name, 'Firestore', TIMES);
    },
  );

  it(titled('throttled during an export'), async (context) => {
    for (let time = 0; time < TIMES; time++) {
      const { instance } = await disturbedAt(calls.address, `export-${time}`);
      await instance.import(expected.body);
      throttle(QUERIES * REJECTIONS, 'RunQuery');
      const { manifest } = await expectThrottled(QUERIES * REJECTIONS, () =>
        instance.export({ org_ids: [], excluded_org_ids: [instance.orgId] }),
      );
      expect(manifest).toMatchObject({ digest: expected.digest, counts: expected.counts });
    }
    survived(context, 'throttled during an export', 'Firestore', TIMES);
  });

  it(titled('throttled during a removal'), async (context) => {
    const { direct, store, instance } = await disturbedAt(calls.address, 'removal');
    await instance.import(expected.body);
    const app = createApp({ routes: routes({ store, audit: memoryTrail().audit, now: () => new Date() }) });
    const headers = { authorization: `Bearer ${instance.token}` };
    for (let time = 0; time < TIMES; time++) {
      const userId = `north-user-${time}`;
      await enableOtpEmail(direct, userId, new Date());
      throttle(REJECTIONS);
      const { status } = await expectThrottled(REJECTIONS, async () =>
        app.request(`/v2/users/${userId}/otp_email`, { method: 'DELETE', headers }),
      );
      expect(status).toBe(200);
      expect((await readUser(direct, userId))?.otpEmail).toBeUndefined();
    }
    survived(context, 'throttled during a removal', 'Firestore', TIMES);
  });

  async function disturbedAt(address: string, projectId: string) {
    const direct = await storeAt(emulator.address, projectId.replaceAll(' ', '-'));
    const store = await storeAt(address, projectId.replaceAll(' ', '-'));
    return { ...(await disturbedImport(direct, expected, store)), store };
  }

  /** Expects that a call outlasts all rejections. */
  async function expectThrottled<Result>(rejections: number, call: () => Promise<Result>): Promise<Result> {
    const before = calls.throttled();
    const result = await call();
    expect(calls.throttled() - before).toBe(rejections);
    return result;
  }
});

describe('SQLite', () => {
  it(titled('locked'), async (context) => {
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
