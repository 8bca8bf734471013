import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createCloudTransfers } from '../../../shared/objectStorage/cloudTransfers.ts';
import { becomeFunction } from '../../support/emulators/functionAccount.ts';
import { type LocalBucket, startLocalBucket } from '../../support/emulators/localBucket.ts';
import { inPieces } from '../../support/fixtures/bytes.ts';

const never = new AbortController().signal;
const facts = { instanceId: 'north', userId: 'owner' };
const MINUTE_MS = 60_000;

describe.each([
  ['a function without a key', (local: LocalBucket) => becomeFunction(local.url)],
  ["a service account's key file", (local: LocalBucket) => vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', local.keyFile)],
])('the URL that is signed by %s', (_, setCredentials) => {
  let local: LocalBucket;
  let later = 0;
  let url = '';
  beforeAll(async () => {
    local = await startLocalBucket(() => new Date(Date.now() + later));
    setCredentials(local);
    const transfers = createCloudTransfers('exports', local.url);
    const written = await transfers.write('id', facts, inPieces(Buffer.from('0123456789')), never);
    url = await transfers.downloadUrl(written, never);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await local.close();
  });
  const get = async (address: string, init: RequestInit = {}) => {
    const response = await fetch(address, init);
    return [response.status, await response.text()];
  };
  const mismatch = [403, expect.stringContaining('<Code>SignatureDoesNotMatch</Code>')];

  it('returns the object, and a part of it, to anyone', async () => {
    expect(await get(url)).toEqual([200, '0123456789']);
    expect(await get(url, { headers: { range: 'bytes=7-' } })).toEqual([206, '789']);
  });

  it('is for ten minutes', async () => {
    expect(new URL(url).searchParams.get('X-Goog-Expires')).toBe('600');
    later = 10 * MINUTE_MS - 5_000;
    expect(await get(url)).toEqual([200, '0123456789']);
    later = 10 * MINUTE_MS;
    expect(await get(url)).toEqual([400, expect.stringContaining('<Code>ExpiredToken</Code>')]);
    later = 0;
  });

  it.each(['HEAD', 'PUT', 'DELETE', 'POST'])('is not for %s', async (method) => {
    const response = await fetch(url, { method });
    expect(response.status).toBe(403);
    expect(await get(url)).toEqual([200, '0123456789']);
  });

  it.each([
    ['X-Goog-Expires', '604800'],
    ['X-Goog-Date', '20990101T000000Z'],
    ['X-Goog-SignedHeaders', 'host;range'],
    ['X-Goog-Credential', 'other@local.iam.gserviceaccount.com/20990101/auto/storage/goog4_request'],
    ['X-Goog-Algorithm', 'GOOG4-HMAC-SHA256'],
    ['X-Goog-Signature', '00'],
    ['generation', '1'],
    ['response-content-type', 'text/html'],
  ])('is not valid with another %s', async (name, value) => {
    const changed = new URL(url);
    changed.searchParams.set(name, value);
    expect(await get(changed.href)).toEqual(mismatch);
  });

  it('is not valid without its generation, and for another object', async () => {
    const withoutGeneration = new URL(url);
    withoutGeneration.searchParams.delete('generation');
    expect(await get(withoutGeneration.href)).toEqual(mismatch);
    const other = new URL(url);
    other.pathname = '/exports/exports/other';
    expect(await get(other.href)).toEqual(mismatch);
  });
});
