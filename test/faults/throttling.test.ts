import { beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { routes } from '../../functions/removeOtpEmail/app.ts';
import { enableOtpEmail } from '../../shared/accounts/users.ts';
import { createApp } from '../../shared/http/app.ts';
import type { Store } from '../../shared/store/store.ts';
import { memoryTrail } from '../support/audit/memoryTrail.ts';
import { newEmulatorDatabase } from '../support/emulators/emulatorDatabase.ts';
import { describeWithFirestore, firestoreEmulator } from '../support/emulators/withFirestore.ts';
import { type GrpcProxy, startGrpcProxy } from '../support/http/grpcProxy.ts';
import { repetitions } from '../support/repetitions.ts';
import { readUser } from '../support/stores/documents.ts';
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
import { type Undisturbed, undisturbed } from './support/undisturbed.ts';

const TIMES = repetitions({ few: 1, many: 6 });
/** With full delays, an operation that is rejected so often takes about a minute. */
const REJECTIONS = 20;
const BATCHES_IN_FLIGHT = 4;
const QUERIES = 40;

describeWithFirestore('a throttled database', () => {
  let expected: Undisturbed;
  let network: GrpcProxy;
  beforeAll(async () => {
    expected = await undisturbed(migration(150));
    network = await startGrpcProxy(firestoreEmulator ?? '');
    return () => network.close();
  });
  beforeEach(() => {
    // Scales the random delays down, so that the test takes seconds.
    vi.spyOn(Math, 'random').mockReturnValue(0.02);
    return () => {
      network.throttle(0);
      vi.restoreAllMocks();
    };
  });

  const throughNetwork = async (): Promise<DisturbedImport & { store: Store }> => {
    const { projectId, empty } = await newEmulatorDatabase();
    onTestFinished(empty);
    const direct = await storeAt(firestoreEmulator ?? '', projectId);
    const store = await storeAt(network.address, projectId);
    return { ...(await disturbedImport(direct, expected, store)), store };
  };

  const ofImport = faultTable['throttled during an import'];
  it(`${ofImport.fault}: ${ofImport.outcome}`, async (context) => {
    const random = randomOf('throttled imports');
    for (let time = 0; time < TIMES; time++) {
      const disturbed = await throughNetwork();
      const before = network.throttled();
      const answer = await importDuring(disturbed, random, {
        begin: async () => network.throttle(BATCHES_IN_FLIGHT * REJECTIONS),
      });
      await expectAnswered(answer, disturbed.direct, expected);
      expect(network.throttled() - before).toBe(BATCHES_IN_FLIGHT * REJECTIONS);
    }
    survived(context, 'throttled during an import', 'Firestore', TIMES);
  });

  const toTheEnd = faultTable['throttled to the end'];
  it(`${toTheEnd.fault}: ${toTheEnd.outcome}`, async (context) => {
    const random = randomOf('imports that are throttled to their end');
    for (let time = 0; time < TIMES; time++) {
      const disturbed = await throughNetwork();
      const body = withTimeout(expected, '10s');
      const answer = await importDuring({ ...disturbed, body }, random, {
        begin: async () => network.throttle(Number.POSITIVE_INFINITY),
        end: async (ended) => {
          await ended;
          network.throttle(0);
        },
      });
      await expectResumable(answer, disturbed);
    }
    survived(context, 'throttled to the end', 'Firestore', TIMES);
  });

  const ofExport = faultTable['throttled during an export'];
  it(`${ofExport.fault}: ${ofExport.outcome}`, async (context) => {
    for (let time = 0; time < TIMES; time++) {
      const { instance } = await throughNetwork();
      await instance.import(expected.body);
      const before = network.throttled();
      network.throttle(QUERIES * REJECTIONS, 'RunQuery');
      const { manifest } = await instance.export({ org_ids: [], excluded_org_ids: [instance.orgId] });
      expect(manifest).toMatchObject({ digest: expected.digest, counts: expected.counts });
      expect(network.throttled() - before).toBe(QUERIES * REJECTIONS);
    }
    survived(context, 'throttled during an export', 'Firestore', TIMES);
  });

  const ofRemoval = faultTable['throttled during a removal'];
  it(`${ofRemoval.fault}: ${ofRemoval.outcome}`, async (context) => {
    const { direct, store, instance } = await throughNetwork();
    await instance.import(expected.body);
    const app = createApp({ routes: routes({ store, audit: memoryTrail().audit, now: () => new Date() }) });
    const headers = { authorization: `Bearer ${instance.token}` };
    for (let time = 0; time < TIMES; time++) {
      const userId = `north-user-${time}`;
      await enableOtpEmail(direct, userId, new Date());
      const before = network.throttled();
      network.throttle(REJECTIONS);
      const { status } = await app.request(`/v2/users/${userId}/otp_email`, { method: 'DELETE', headers });
      expect({ status, throttled: network.throttled() - before }).toEqual({ status: 200, throttled: REJECTIONS });
      expect((await readUser(direct, userId))?.otpEmail).toBeUndefined();
    }
    survived(context, 'throttled during a removal', 'Firestore', TIMES);
  });
});
