import { afterAll, beforeAll, describe } from 'vitest';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import type { ServiceAccount } from '../../shared/objectStorage/objectStorage.ts';
import { describeBucketContract } from '../support/bucketContract.ts';
import { startFakeGcsServer, whyNoFakeGcsServer } from '../support/fakeGcsServer.ts';
import { type LocalBucket, startLocalBucket } from '../support/localBucket.ts';

let local: LocalBucket;
beforeAll(async () => {
  local = await startLocalBucket();
});
afterAll(() => local.close());

const under = (url: string, account: ServiceAccount) => ({
  bucket: createCloudStorage({ apiEndpoint: url }),
  at: (path: string) => ({ bucket: 'exports', path, account }),
});

describe('Cloud Storage, on the local stand-in', () => {
  describeBucketContract(() => under(local.url, local.both));
});

describe.skipIf(whyNoFakeGcsServer() !== undefined)(
  'Cloud Storage, on fake-gcs-server, which checks no credentials',
  () => {
    let fake: Awaited<ReturnType<typeof startFakeGcsServer>>;
    beforeAll(async () => {
      fake = await startFakeGcsServer('exports');
    }, 300_000);
    afterAll(() => fake.close());

    describeBucketContract(() => under(fake.url, local.both));
  },
);
