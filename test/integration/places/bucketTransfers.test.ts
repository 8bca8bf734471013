import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { CRC32C } from '@google-cloud/storage';
import { describe, expect, it } from 'vitest';
import { downloadObject, parseAddress, uploadFile } from '../../../cli/places/bucketTransfers.ts';
import { once } from '../../../shared/async.ts';
import { startServer } from '../../support/places/fakeInstance.ts';

const { signal } = new AbortController();
/** More than two pieces of an upload. */
const file = randomBytes(20_000_000);
const crc32c = new CRC32C();
crc32c.update(file);
const object = { size: file.byteLength, crc32c: crc32c.toString() };
const PERSISTED_UNIT = 262_144;

/** A response of a bucket to one request, in place of its usual one. */
type Fault = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** Starts a bucket with one object and one upload. Its faults happen at the first requests; an empty one is none. */
async function startBucket(faults: readonly (Fault | undefined)[] = [], bytes = file) {
  const requests: string[] = [];
  const remaining = [...faults];
  let received = Buffer.alloc(0);
  let isComplete = false;
  const download: Fault = ({ headers }, response) => {
    const [, start = '0'] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? [];
    response.writeHead(headers.range === undefined ? 200 : 206);
    response.end(bytes.subarray(Number(start)));
  };
  const upload: Fault = async (request, response) => {
    const [, start, size] = /^bytes (?:(\d+)-\d+|\*)\/(\d+)$/.exec(request.headers['content-range'] ?? '') ?? [];
    const chunks: Uint8Array[] = await Array.fromAsync(request);
    if (start !== undefined) received = Buffer.concat([received, ...chunks]);
    isComplete = received.byteLength === Number(size);
    if (!isComplete) received = received.subarray(0, received.byteLength - (received.byteLength % PERSISTED_UNIT));
    const range = received.byteLength === 0 ? {} : { range: `bytes=0-${received.byteLength - 1}` };
    response.writeHead(isComplete ? 200 : 308, isComplete ? {} : range).end(isComplete ? '{}' : '');
  };
  const url = await startServer(async (request, response) => {
    const { method, headers } = request;
    requests.push(`${method} ${headers.range ?? headers['content-range'] ?? 'all'}`);
    expect(headers.authorization).toBeUndefined();
    const respond = remaining.shift() ?? (method === 'PUT' ? upload : download);
    await respond(request, response);
  });
  const address = parseAddress('https://id.example.com', `${url}/file?secret=signature`);
  return { address, requests, received: () => received, isComplete: () => isComplete };
}

type Bucket = Awaited<ReturnType<typeof startBucket>>;

const status = (code: number, headers: Readonly<Record<string, string>> = {}): Fault => {
  return (request, response) => {
    request.resume();
    response.writeHead(code, headers).end('secret=signature');
  };
};

/** Sends some bytes of the object, and breaks the connection. */
const breakAfter = (bytes: number): Fault => {
  return ({ headers }, response) => {
    const [, start = '0'] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? [];
    response.writeHead(headers.range === undefined ? 200 : 206, { 'content-length': file.byteLength - Number(start) });
    response.write(file.subarray(Number(start), Number(start) + bytes), () => response.destroy());
  };
};

async function download({ address }: Bucket, expected = object) {
  const positions: number[] = [];
  const content = downloadObject(address, expected, (position) => void positions.push(position), signal);
  return { bytes: Buffer.concat(await Array.fromAsync(content)), positions };
}

describe('a download from the bucket of an instance', () => {
  it('continues at its position after broken connections and errors of the bucket', async () => {
    const bucket = await startBucket([breakAfter(5_000_000), status(503), breakAfter(1_000_000)]);
    const { bytes, positions } = await download(bucket);
    expect(bytes.equals(file)).toBe(true);
    expect(positions.at(-1)).toBe(file.byteLength);
    const [first, ...others] = bucket.requests;
    expect(first).toBe('GET all');
    expect(others).toHaveLength(3);
    for (const other of others) expect(other).toMatch(/^GET bytes=\d+-$/);
  });

  it('waits as long as the bucket asks for', async () => {
    const bucket = await startBucket([status(429, { 'retry-after': '1' })]);
    const startedAt = performance.now();
    expect((await download(bucket)).bytes.equals(file)).toBe(true);
    expect(performance.now() - startedAt).toBeGreaterThan(990);
    expect(bucket.requests).toHaveLength(2);
  });

  it.each([400, 403])('fails if its address has expired after a break, with status %i', async (code) => {
    const bucket = await startBucket([breakAfter(5_000_000), status(code)]);
    const problem = /the download broke after \d+ bytes, and the URL of the download has expired \(status 40[03]\)/;
    await expect(download(bucket)).rejects.toThrow(problem);
    expect(bucket.requests).toHaveLength(2);
  });

  it.each([
    ['another content', Buffer.from(file).fill(0, 0, 1)],
    ['more bytes', Buffer.concat([file, file.subarray(0, 1)])],
  ])('fails if the object has %s than the instance has written', async (_what, other) => {
    await expect(download(await startBucket([], other))).rejects.toThrow(
      'differs from the file that the instance has written',
    );
  });

  it('fails at once if it is not permitted, with an error without the address', async () => {
    const bucket = await startBucket([status(403)]);
    const problem = `${bucket.address.origin} failed: the bucket does not permit the download (status 403): repeat the command`;
    await expect(download(bucket)).rejects.toThrow(problem);
    expect(bucket.requests).toHaveLength(1);
  });
});

async function upload({ address }: Bucket, size = file.byteLength) {
  const positions: number[] = [];
  const onSent = (position: number) => void positions.push(position);
  await uploadFile({ address, size, onSent }, once(file), signal);
  return positions;
}

/** Takes a request whole, and breaks the connection instead of responding. */
const loseResponse: Fault = async (request, response) => {
  for await (const _ of request);
  response.destroy();
};

/** Breaks the connection while the piece is sent. */
const breakOff: Fault = (request) => void request.once('data', () => request.destroy());

describe('an upload into the bucket of an instance', () => {
  it('asks for the position after a break, and sends the remainder of the piece', async () => {
    const bucket = await startBucket([undefined, breakOff, status(503), undefined, loseResponse]);
    expect((await upload(bucket)).at(-1)).toBe(file.byteLength);
    expect(bucket.received().equals(file)).toBe(true);
    expect(bucket.isComplete()).toBe(true);
    expect(bucket.requests).toEqual([
      'PUT bytes 0-8388607/20000000',
      'PUT bytes 8388608-16777215/20000000',
      'PUT bytes */20000000',
      'PUT bytes */20000000',
      'PUT bytes 8388608-16777215/20000000',
      'PUT bytes */20000000',
      'PUT bytes 8388608-16777215/20000000',
      'PUT bytes 16777216-19999999/20000000',
    ]);
  });

  it('sends what the bucket has not kept of a piece', async () => {
    const keepHalf: Fault = async (request, response) => {
      for await (const _ of request);
      response.writeHead(308).end();
    };
    const bucket = await startBucket([keepHalf]);
    await upload(bucket);
    expect(bucket.received().equals(file)).toBe(true);
    expect(bucket.requests.slice(0, 3)).toEqual([
      'PUT bytes 0-8388607/20000000',
      'PUT bytes */20000000',
      'PUT bytes 0-8388607/20000000',
    ]);
  });

  it.each([file.byteLength - 1, file.byteLength + 1])(
    'completes no file that had %i bytes before, and has another number of bytes now',
    async (size) => {
      const bucket = await startBucket();
      const problem = 'the file changed while this command read it: repeat the command';
      await expect(upload(bucket, size)).rejects.toThrow(problem);
      expect(bucket.isComplete()).toBe(false);
    },
  );

  it.each([404, 410, 400, 403])('fails at once with status %i, and an error without the address', async (code) => {
    const bucket = await startBucket([status(code)]);
    const problem = `${bucket.address.origin} failed: the bucket does not permit the upload (status ${code}): repeat the command`;
    await expect(upload(bucket)).rejects.toThrow(problem);
    expect(bucket.requests).toHaveLength(1);
  });
});

describe('the address of a transfer', () => {
  it.each(['http://storage.example.com/file', 'ftp://127.0.0.1/file', '/file', undefined])(
    'is refused if it is %s',
    (text) => {
      const problem = 'https://id.example.com returned no https:// address for the file';
      expect(() => parseAddress('https://id.example.com', text)).toThrow(problem);
    },
  );
});
