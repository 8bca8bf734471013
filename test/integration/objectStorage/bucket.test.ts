import { afterAll, beforeAll, describe } from 'vitest';
import { bucketAt, describeBucketContract } from '../../support/bucketContract.ts';
import { type LocalBucket, startLocalBucket } from '../../support/emulators/localBucket.ts';

describe('Cloud Storage, on the local stand-in', () => {
  let local: LocalBucket;
  beforeAll(async () => {
    local = await startLocalBucket();
  });
  afterAll(() => local.close());

  describeBucketContract(() => bucketAt(local.url, local.account));
});
