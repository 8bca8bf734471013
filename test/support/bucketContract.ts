import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createCloudStorage } from '../../shared/objectStorage/cloudStorage.ts';
import type { ObjectLocation, ObjectStorage, ServiceAccount } from '../../shared/objectStorage/objectStorage.ts';
import { collect, digest, inPieces } from './fixtures/bytes.ts';

/** The subject of the contract. Each test gets a new one. */
export interface BucketUnderTest {
  readonly bucket: ObjectStorage;
  /** A place in an existing bucket, with an account that may create and read objects there. */
  readonly at: (path: string) => ObjectLocation;
}

const never = new AbortController().signal;
const kib = 1024;
const sizes = {
  '0 bytes': 0,
  '1 byte': 1,
  '256 KiB - 1': 256 * kib - 1,
  '256 KiB': 256 * kib,
  '256 KiB + 1': 256 * kib + 1,
  '8 MiB': 8192 * kib,
  '16 MiB + 1': 16384 * kib + 1,
};

/** The contract of every ObjectStorage, independent of the server. */
export function describeBucketContract(get: () => BucketUnderTest): void {
  it.each(Object.entries(sizes))('returns %s as they were written', async (name, size) => {
    const { bucket, at } = get();
    const bytes = randomBytes(size);
    const location = at(`round trip/${name}?&#%.json`);
    const written = await bucket.write(location, inPieces(bytes), never);
    const pinned = await bucket.pin(location, never);
    expect(written).toMatchObject({ bucket: location.bucket, path: location.path, size });
    expect(pinned).toMatchObject({ generation: written.generation, size });
    expect(digest(await collect(pinned.read(never)))).toBe(digest(bytes));
    expect(digest(await collect(pinned.read(never)))).toBe(digest(bytes));
  });

  it('returns the CRC32C of the written bytes', async () => {
    const { bucket, at } = get();
    const written = await bucket.write(at('digits'), inPieces(Buffer.from('123456789')), never);
    expect(written.crc32c).toBe('4waSgw==');
  });

  it('never overwrites an object', async () => {
    const { bucket, at } = get();
    await bucket.write(at('once'), inPieces(Buffer.from('first')), never);
    const again = bucket.write(at('once'), inPieces(Buffer.from('second')), never);
    await expect(again).rejects.toMatchObject({ code: 'ALREADY_EXISTS', message: expect.stringContaining('/once') });
    expect(await read(get(), 'once')).toBe('first');
  });

  it.each([0, 1, 9])('leaves nothing when the content fails after %i MiB', async (mib) => {
    const { bucket, at } = get();
    const failure = new Error('the content failed');
    const path = `failed after ${mib}`;
    await expect(bucket.write(at(path), failing(mib, failure), never)).rejects.toBe(failure);
    await expect(bucket.pin(at(path), never)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it.each([0, 9])('leaves nothing when it is aborted after %i MiB, even while the content is stuck', async (mib) => {
    const { bucket, at } = get();
    const abort = new AbortController();
    const reason = new Error('aborted by the test');
    const path = `aborted after ${mib}`;
    const stuck = stuckAfter(mib, () => abort.abort(reason));
    await expect(bucket.write(at(path), stuck, abort.signal)).rejects.toBe(reason);
    await expect(bucket.pin(at(path), never)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await bucket.write(at(path), inPieces(Buffer.from('later')), never);
    expect(await read(get(), path)).toBe('later');
  });

  it('does not begin when it is aborted beforehand', async () => {
    const { bucket, at } = get();
    const reason = new Error('aborted beforehand');
    const signal = AbortSignal.abort(reason);
    await expect(bucket.write(at('unbegun'), inPieces(Buffer.from('x')), signal)).rejects.toBe(reason);
    await expect(bucket.pin(at('unbegun'), signal)).rejects.toBe(reason);
  });

  it('stops reading when it is aborted', async () => {
    const { bucket, at } = get();
    await bucket.write(at('long'), inPieces(randomBytes(4096 * kib)), never);
    const abort = new AbortController();
    const reason = new Error('aborted while reading');
    const pinned = await bucket.pin(at('long'), never);
    const reading = (async () => {
      for await (const _ of pinned.read(abort.signal)) abort.abort(reason);
    })();
    await expect(reading).rejects.toBe(reason);
  });

  it('reports the name of a missing object', async () => {
    const { bucket, at } = get();
    const missing = bucket.pin(at('missing'), never);
    await expect(missing).rejects.toMatchObject({ code: 'NOT_FOUND', message: expect.stringContaining('/missing') });
  });

  it('rejects an export to an unknown bucket', async () => {
    const { bucket, at } = get();
    const nowhere = { ...at('x'), bucket: 'no-such-bucket' };
    const refused = bucket.write(nowhere, inPieces(Buffer.from('x')), never);
    await expect(refused).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('no-such-bucket'),
    });
  });
}

async function read({ bucket, at }: BucketUnderTest, path: string): Promise<string> {
  const pinned = await bucket.pin(at(path), never);
  return (await collect(pinned.read(never))).toString();
}

async function* failing(mib: number, failure: Error): AsyncGenerator<Uint8Array, void, void> {
  yield* inPieces(randomBytes(mib * 1024 * kib));
  throw failure;
}

async function* stuckAfter(mib: number, then: () => void): AsyncGenerator<Uint8Array, void, void> {
  yield* inPieces(randomBytes(mib * 1024 * kib));
  setImmediate(then);
  await new Promise(() => {});
}

/** The bucket `exports` of a server with Cloud Storage's API. */
export function bucketAt(url: string, account: ServiceAccount): BucketUnderTest {
  return { bucket: createCloudStorage(url), at: (path) => ({ bucket: 'exports', path, account }) };
}
