import { afterAll, beforeAll, describe } from 'vitest';
import { bucketAt, describeBucketContract } from '../support/bucketContract.ts';
import { type LocalBucket, startLocalBucket } from '../support/emulators/localBucket.ts';
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
    afterAll(async () => {
      await fake.close();
      await local.close();
    });

    describeBucketContract(() => bucketAt(fake.url, local.account));
  },
);
