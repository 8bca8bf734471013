import { afterAll, beforeAll, describe, vi } from 'vitest';
import { createCloudTransfers } from '../../shared/objectStorage/cloudTransfers.ts';
import { bucketAt, describeBucketContract } from '../support/bucketContract.ts';
import { becomeFunction } from '../support/emulators/functionAccount.ts';
import { type LocalBucket, startLocalBucket } from '../support/emulators/localBucket.ts';
import { describeTransfersContract } from '../support/transfersContract.ts';
import { startFakeGcsServer, whyNoFakeGcsServer } from './fakeGcsServer.ts';

describe.skipIf((await whyNoFakeGcsServer()) !== undefined)(
  'Cloud Storage, on fake-gcs-server, which checks no credentials',
  () => {
    let local: LocalBucket;
    let fake: Awaited<ReturnType<typeof startFakeGcsServer>>;
    beforeAll(async () => {
      local = await startLocalBucket();
      fake = await startFakeGcsServer('exports');
    }, 300_000);
    beforeAll(() => becomeFunction(local.url));
    afterAll(async () => {
      vi.unstubAllEnvs();
      await fake.close();
      await local.close();
    });

    describeBucketContract(() => bucketAt(fake.url, local.account));
    describeTransfersContract(() => createCloudTransfers('exports', fake.url));
  },
);
