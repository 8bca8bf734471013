import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deadlineExceeded } from '../../../shared/errors/errors.ts';
import { createApp } from '../../../shared/http/app.ts';
import type { ReceivedBody } from '../../../shared/http/bodyStorage.ts';
import { receiveBody } from '../../../shared/http/requestBody.ts';
import { type RunningServer, serve } from '../../../shared/http/server.ts';
import { fixedLimits } from '../../../shared/limits.ts';
import { configureLog } from '../../../shared/log.ts';
import { errorInfo } from '../../support/http/errorInfo.ts';
import { openConnection, readAnswer } from '../../support/http/rawHttp.ts';

const memoryBytes = 1_000_000;
const usualMaxBytes = 20_000_000;

let directory: string;
let serving: RunningServer;
let use: (body: ReceivedBody) => Promise<unknown>;
let signal: AbortSignal;
let maxBytes = usualMaxBytes;
let began: PromiseWithResolvers<void>;
let outcome: PromiseWithResolvers<unknown>;

beforeEach(async () => {
  configureLog('silent');
  directory = await mkdtemp(join(tmpdir(), 'body-test-'));
  signal = new AbortController().signal;
  maxBytes = usualMaxBytes;
  began = Promise.withResolvers();
  outcome = Promise.withResolvers();
  use = async (body) => ({ size: body.size, hash: await hashOf(body.open()) });
  const route = {
    method: 'POST',
    path: '/',
    handler: async (context: { req: { raw: Request }; json: (value: object) => Response }) => {
      began.resolve();
      const raw = context.req.raw;
      const limits = { maxBytes, memoryBytes, directory, signal: AbortSignal.any([signal, raw.signal]) };
      try {
        const body = await receiveBody(raw, limits);
        const result = await use(body);
        const files = await readdir(directory);
        await body.close();
        return context.json({ result, files });
      } catch (error) {
        outcome.resolve(error);
        throw error;
      }
    },
  } as const;
  serving = await serve({ app: createApp({ routes: [route] }), host: '127.0.0.1', port: 0 });
});

afterEach(async () => {
  await serving.close();
  expect(await readdir(directory)).toEqual([]);
  await rm(directory, { recursive: true });
});

async function hashOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of bytes) hash.update(chunk);
  return hash.digest('hex');
}

const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Compresses quickly: the default quality takes seconds for megabytes. */
const brotli = (bytes: Uint8Array) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

const post = (
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
  headers: Record<string, string> = {},
) => fetch(serving.url, { method: 'POST', body, headers, duplex: 'half' });

function chunked(bytes: Uint8Array, chunkBytes: number): ReadableStream<Uint8Array> {
  let position = 0;
  return new ReadableStream({
    pull(controller) {
      if (position >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(position, position + chunkBytes));
      position += chunkBytes;
    },
  });
}

describe('a request body', () => {
  it.each([0, 1, memoryBytes - 1, memoryBytes, memoryBytes + 1, usualMaxBytes])(
    'of %d bytes arrives as it was sent, and leaves no named file even while it is open',
    async (size) => {
      const bytes = randomBytes(size);
      const response = await post(bytes);
      expect(await response.json()).toEqual({ result: { size, hash: hash(bytes) }, files: [] });
    },
  );

  it.each([100, 2_000_000])('of %d bytes arrives in chunks of unknown number, single bytes included', async (size) => {
    const bytes = randomBytes(size);
    const response = await post(chunked(bytes, size === 100 ? 1 : 7_001));
    expect(await response.json()).toEqual({ result: { size, hash: hash(bytes) }, files: [] });
  });

  it.each([500_000, 2_000_000])('of %d bytes can be read again, in parts, and several times at once', async (size) => {
    const bytes = randomBytes(size);
    use = async (body) => {
      const again = await Promise.all([hashOf(body.open()), hashOf(body.open())]);
      const part = await hashOf(body.open(100_000, 450_000));
      const rest = await hashOf(body.open(size - 10, size + 10));
      const lengths: number[] = [];
      for await (const chunk of body.open()) lengths.push(chunk.length);
      return {
        again,
        part,
        rest,
        longest: Math.max(...lengths),
        whole: lengths.slice(0, -1).every((one) => one >= 65_536),
      };
    };
    const response = await post(bytes);
    expect(await response.json()).toMatchObject({
      result: {
        again: [hash(bytes), hash(bytes)],
        part: hash(bytes.subarray(100_000, 450_000)),
        rest: hash(bytes.subarray(size - 10)),
        longest: 65_536,
        whole: true,
      },
    });
  });

  it.each([10, 2_000_000])('of %d bytes cannot be read once it is closed', async (size) => {
    use = async (body) => {
      await body.close();
      await expect(async () => hashOf(body.open())).rejects.toThrow('closed');
      return 'refused';
    };
    expect(await (await post(Buffer.alloc(size))).json()).toMatchObject({ result: 'refused' });
  });

  it('that is absent is empty', async () => {
    const body = await receiveBody(new Request('http://a/', { method: 'POST' }), { maxBytes, signal });
    expect([body.size, await hashOf(body.open())]).toEqual([0, hash(new Uint8Array())]);
  });

  it.each([
    ['gzip', gzipSync],
    ['GZIP, identity', gzipSync],
    ['x-gzip', gzipSync],
    ['br', brotli],
  ])('that is compressed arrives inflated: %s', async (encoding, compress) => {
    const bytes = Buffer.from(randomBytes(1_000_000).toString('base64'));
    const response = await post(Buffer.from(compress(bytes)), { 'content-encoding': encoding });
    expect(await response.json()).toMatchObject({ result: { size: bytes.length, hash: hash(bytes) } });
  });

  it.each(['zstd', 'deflate', 'compress', 'gzip, gzip', 'gzip, br', 'gzip;q=1'])(
    'in the coding %s is rejected, with a list of the supported ones',
    async (encoding) => {
      const response = await post('x', { 'content-encoding': encoding });
      expect(response.status).toBe(415);
      expect(await response.json()).toMatchObject({ code: 3, message: expect.stringContaining('br, gzip, x-gzip') });
    },
  );

  it.each([
    ['gzip', Buffer.from('x')],
    ['gzip', gzipSync(randomBytes(100_000)).subarray(0, 50_000)],
    ['gzip', gzipSync('abc').map((byte, at, all) => (at === all.length - 8 ? byte ^ 1 : byte))],
    ['br', Buffer.from('x'.repeat(100))],
    ['br', brotli(randomBytes(100_000)).subarray(0, 50_000)],
  ])('that is not valid %s is rejected', async (encoding, bytes) => {
    const response = await post(Buffer.from(bytes), { 'content-encoding': encoding });
    const message = `the request body is not valid ${encoding}: compress it again, or omit Content-Encoding`;
    expect(await response.json()).toEqual({ code: 3, message, details: [errorInfo('BODY_CORRUPTED')] });
    expect(response.status).toBe(400);
  });

  it('may be declared as uncompressed', async () => {
    expect((await post('x', { 'content-encoding': 'Identity' })).status).toBe(200);
  });
});

describe('a request body at or over the limit', () => {
  const tooLarge = {
    code: 8,
    message: expect.stringContaining(`exceeds ${usualMaxBytes} bytes`),
    details: [errorInfo('REQUEST_TOO_LARGE')],
  };

  it('is rejected by its declared length before a byte of it was sent', async () => {
    const socket = await openConnection(serving.url);
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${maxBytes + 1}\r\n\r\n`);
    const answer = await readAnswer(socket);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([413, tooLarge]);
    socket.destroy();
  });

  it('is rejected in the middle if its length is not declared, and the response reaches a client that sends everything first', async () => {
    const socket = await openConnection(serving.url);
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    const block = Buffer.concat([Buffer.from('f4240\r\n'), Buffer.alloc(1_000_000), Buffer.from('\r\n')]);
    for (let sent = 0; sent < 2 * maxBytes; sent += 1_000_000) if (!socket.write(block)) await once(socket, 'drain');
    socket.write('0\r\n\r\n');
    const answer = await readAnswer(socket);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([413, tooLarge]);
    socket.destroy();
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotli],
  ])('once inflated by %s is rejected', async (encoding, compress) => {
    const blocks = Array.from({ length: maxBytes / 100_000 + 1 }, () => [randomBytes(2_000), Buffer.alloc(98_000)]);
    const large = Buffer.from(compress(Buffer.concat(blocks.flat())));
    expect(large.length).toBeLessThan(maxBytes / 40);
    const response = await post(large, { 'content-encoding': encoding });
    expect([response.status, await response.json()]).toEqual([413, tooLarge]);
  });

  it.each([
    ['gzip', 10_000_000, 200],
    ['gzip', 10_300_000, 413],
    ['br', 10_000_000, 200],
    ['br', 10_300_000, 413],
  ])('may inflate a thousandfold by %s only to 10 MB (%i bytes: %i)', async (encoding, bytes, status) => {
    const bomb = Buffer.from((encoding === 'gzip' ? gzipSync : brotli)(Buffer.alloc(bytes)));
    expect(bomb.length).toBeLessThan(bytes / 500);
    const response = await post(bomb, { 'content-encoding': encoding });
    expect(response.status).toBe(status);
    if (status === 413)
      expect(await response.json()).toMatchObject({
        code: 8,
        message: 'the request body decompresses to more than 100 times its size: send it uncompressed',
      });
  });

  it('is rejected in the middle even if it inflates to nothing', async () => {
    const emptyBlocks = Buffer.alloc(5 * 200_000);
    for (let at = 0; at < emptyBlocks.length; at += 5) emptyBlocks.writeUInt16BE(0xffff, at + 3);
    const start = gzipSync('').subarray(0, 10);
    const endless = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(start),
      pull: (controller) => controller.enqueue(emptyBlocks),
    });
    const response = await post(endless, { 'content-encoding': 'gzip' });
    expect([response.status, await response.json()]).toEqual([413, tooLarge]);
  });

  it('is rejected before its end if it is white space', async () => {
    maxBytes = 200_000_000;
    const spaces = (count: number) => chunked(Buffer.concat([Buffer.from('{}'), Buffer.alloc(count, ' ')]), 1_000_000);
    expect((await post(spaces(fixedLimits.whiteSpaceBytes))).status).toBe(200);
    const response = await post(spaces(fixedLimits.whiteSpaceBytes + 1));
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('more than 64000000 bytes of white space');
  });

  it('of exactly the limit is accepted', async () => {
    expect((await post(Buffer.alloc(maxBytes))).status).toBe(200);
  });
});

describe('a client', () => {
  it.each([10, 5_000_000])('that disconnects after %d bytes cancels the call', async (sent) => {
    const socket = await openConnection(serving.url);
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${usualMaxBytes}\r\n\r\n`);
    if (!socket.write(Buffer.alloc(sent))) await once(socket, 'drain');
    await began.promise;
    socket.resetAndDestroy();
    expect(await outcome.promise).toMatchObject({ code: 'CANCELLED' });
  });

  it('that declares more than it sends gets an error about a malformed request', async () => {
    const socket = await openConnection(serving.url);
    socket.end('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc');
    const answer = await readAnswer(socket);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      400,
      { code: 3, message: 'malformed HTTP request', details: [errorInfo('HTTP_MALFORMED')] },
    ]);
    expect(await outcome.promise).toMatchObject({ code: 'CANCELLED' });
  });

  it('that sends more than it declares has only the declared bytes read', async () => {
    const socket = await openConnection(serving.url);
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcdef');
    const answer = await readAnswer(socket);
    expect(JSON.parse(answer.body.slice(0, Number(answer.headers.get('content-length'))))).toMatchObject({
      result: { size: 3, hash: hash(Buffer.from('abc')) },
    });
    socket.destroy();
  });

  it('that stalls gets a response at the timeout', async () => {
    const time = new AbortController();
    signal = time.signal;
    const socket = await openConnection(serving.url);
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc');
    await began.promise;
    time.abort(deadlineExceeded());
    const answer = await readAnswer(socket);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([504, { code: 4, message: 'context deadline exceeded' }]);
    socket.destroy();
  });
});
