import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCloudStorage } from '../../../shared/objectStorage/cloudStorage.ts';
import { bucketAt, describeBucketContract } from '../../support/bucketContract.ts';
import { type LocalBucket, startLocalBucket } from '../../support/emulators/localBucket.ts';
import { newAccount } from '../../support/emulators/newAccount.ts';
import { startServer } from '../../support/places/fakeInstance.ts';

describe('Cloud Storage, on the local stand-in', () => {
  let local: LocalBucket;
  beforeAll(async () => {
    local = await startLocalBucket();
  });
  afterAll(() => local.close());

  describeBucketContract(() => bucketAt(local.url, local.account));
});

it('Cloud Storage is called again when its pause is over', async () => {
  const times: number[] = [];
  const metadata = JSON.stringify({ generation: '1', size: '0', crc32c: 'AAAAAA==' });
  const url = await startServer(({ method }, response) => {
    if (method !== 'GET') return void response.writeHead(404).end();
    times.push(performance.now());
    if (times.length === 1) response.writeHead(429, { 'retry-after': '1' }).end('{}');
    else response.writeHead(200, { 'content-type': 'application/json' }).end(metadata);
  });
  const location = { bucket: 'exports', path: 'north.json', account: newAccount('busy') };
  const { signal } = new AbortController();
  expect(await createCloudStorage(url).pin(location, signal)).toMatchObject({ generation: '1' });
  const [first = 0, second = 0] = times;
  expect(times).toHaveLength(2);
  expect(second - first).toBeGreaterThan(990);
});
