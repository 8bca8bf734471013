import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deadlineExceeded } from '../../shared/errors/errors.ts';
import { createApp } from '../../shared/http/app.ts';
import { BodyBudget, type ReceivedBody } from '../../shared/http/bodyStorage.ts';
import { receiveBody } from '../../shared/http/requestBody.ts';
import { type RunningServer, serve } from '../../shared/http/server.ts';
import { fixedLimits } from '../../shared/limits.ts';
import { configureLog } from '../../shared/log.ts';
import { organisation } from '../support/fixtures/organisations.ts';
import { errorInfo } from '../support/http/errorInfo.ts';
import { openConnection, readAnswer } from '../support/http/rawHttp.ts';
import { type TestInstance, testInstance } from '../support/instances/testInstance.ts';
import { openTestStore, setUpOnce } from '../support/stores/stores.ts';

const memoryBytes = 300_000;
const usualMaxBytes = 1_000_000;
const inflatedMaxBytes = 20_000_000;

let directory: string;
let serving: RunningServer;
let use: (body: ReceivedBody) => Promise<unknown>;
let signal: AbortSignal;
let maxBytes = usualMaxBytes;
let began: PromiseWithResolvers<void>;
let outcome: PromiseWithResolvers<unknown>;

beforeAll(async () => {
  configureLog('silent');
  directory = await mkdtemp(join(tmpdir(), 'body-test-'));
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
  return async () => {
    await serving.close();
    await rm(directory, { recursive: true });
  };
});

beforeEach(() => {
  signal = new AbortController().signal;
  maxBytes = usualMaxBytes;
  began = Promise.withResolvers();
  outcome = Promise.withResolvers();
  use = async (body) => ({ size: body.size, hash: await hashOf(body.open()) });
});

afterEach(async () => expect(await readdir(directory)).toEqual([]));

async function hashOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of bytes) hash.update(chunk);
  return hash.digest('hex');
}

const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Compresses quickly: the default quality takes seconds for megabytes. */
const brotli = (bytes: Uint8Array) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
const coders = { gzip: gzipSync, br: brotli };

type Body = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

const post = (body: Body, coding = '') =>
  fetch(serving.url, {
    method: 'POST',
    body,
    headers: coding === '' ? {} : { 'content-encoding': coding },
    duplex: 'half',
  });

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

const text = Buffer.from(randomBytes(300_000).toString('base64'));
const bytesOf = (size: number) => Buffer.from(randomBytes(size).toString('base64').slice(0, size));

describe('a request body arrives as it was sent, and leaves no named file even while it is open', () => {
  it.each<[name: string, bytes: Buffer, sent: (bytes: Buffer) => Body | Buffer, coding?: string]>([
    ...[0, 1, memoryBytes - 1, memoryBytes, memoryBytes + 1, usualMaxBytes].map(
      (size): [string, Buffer, (bytes: Buffer) => Buffer] => [`${size} bytes`, bytesOf(size), (bytes) => bytes],
    ),
    ['100 bytes, each in a chunk', bytesOf(100), (bytes) => chunked(bytes, 1)],
    ['700,000 bytes in chunks', bytesOf(700_000), (bytes) => chunked(bytes, 7_001)],
    ['declared as uncompressed', bytesOf(1), (bytes) => bytes, 'Identity'],
    ['gzip', text, gzipSync, 'gzip'],
    ['GZIP, identity', text, gzipSync, 'GZIP, identity'],
    ['x-gzip', text, gzipSync, 'x-gzip'],
    ['br', text, brotli, 'br'],
  ])('%s', async (_name, bytes, sent, coding) => {
    const body = sent(bytes);
    const response = await post(
      body instanceof ReadableStream || typeof body === 'string' ? body : Buffer.from(body),
      coding,
    );
    expect(await response.json()).toEqual({ result: { size: bytes.length, hash: hash(bytes) }, files: [] });
  });

  it.each([
    ['with a byte order mark', Buffer.from('\ufeff{"a":"ü"}')],
    ['in UTF-16', Buffer.from('\ufeff{"a":"ü"}', 'utf16le')],
    ['in UTF-16, big endian, without a mark', Buffer.from('{"a":"ü"}', 'utf16le').swap16()],
    ['in UTF-16, compressed', gzipSync(Buffer.from('\ufeff{"a":"ü"}', 'utf16le')), 'gzip'],
  ])('in UTF-8, and without a mark: %s', async (_name, body, coding = '') => {
    const response = await post(body, coding);
    expect(await response.json()).toEqual({ result: { size: 10, hash: hash(Buffer.from('{"a":"ü"}')) }, files: [] });
  });

  it('if it is absent', async () => {
    const body = await receiveBody(new Request('http://a/', { method: 'POST' }), { maxBytes, signal });
    expect([body.size, await hashOf(body.open())]).toEqual([0, hash(new Uint8Array())]);
  });
});

describe.each([memoryBytes, 2 * memoryBytes])('a stored body of %d bytes', (size) => {
  it('can be read again, in parts, and several times at once', async () => {
    const bytes = randomBytes(size);
    use = async (body) => {
      const lengths: number[] = [];
      for await (const chunk of body.open()) lengths.push(chunk.length);
      return {
        again: await Promise.all([hashOf(body.open()), hashOf(body.open())]),
        part: await hashOf(body.open(100_000, 250_000)),
        rest: await hashOf(body.open(size - 10, size + 10)),
        longest: Math.max(...lengths),
        whole: lengths.slice(0, -1).every((length) => length >= 65_536),
      };
    };
    expect(await (await post(bytes)).json()).toMatchObject({
      result: {
        again: [hash(bytes), hash(bytes)],
        part: hash(bytes.subarray(100_000, 250_000)),
        rest: hash(bytes.subarray(size - 10)),
        longest: 65_536,
        whole: true,
      },
    });
  });

  it('cannot be read once it is closed', async () => {
    use = async (body) => {
      await body.close();
      await expect(async () => hashOf(body.open())).rejects.toThrow('closed');
      return 'refused';
    };
    expect(await (await post(Buffer.alloc(size))).json()).toMatchObject({ result: 'refused' });
  });
});

const unsupported = { code: 3, message: expect.stringContaining('br, gzip, x-gzip') };
const corrupted = (coding: string) => ({
  code: 3,
  message: `the request body is not valid ${coding}: compress the body again, or omit Content-Encoding`,
  details: [errorInfo('BODY_CORRUPTED', { coding })],
});
const inflatesTooMuch = {
  code: 8,
  message: 'the request body decompresses to more than 100 times its size: send the body uncompressed',
};
const tooLarge = (bytes: number) => ({
  code: 8,
  message: `the request body exceeds ${bytes} bytes`,
  details: [errorInfo('REQUEST_TOO_LARGE', { limit: `${bytes}` })],
});

/** Content that compresses to a fortieth, and exceeds the limit. */
const compressible = Buffer.concat(
  Array.from({ length: usualMaxBytes / 100_000 + 1 }, () => [randomBytes(2_000), Buffer.alloc(98_000)]).flat(),
);
const wrongSum = gzipSync('abc').map((byte, at, all) => (at === all.length - 8 ? byte ^ 1 : byte));

/** Blocks of gzip that inflate to nothing, without end. */
function emptyBlocks(): ReadableStream<Uint8Array> {
  const blocks = Buffer.alloc(5 * 20_000);
  for (let at = 0; at < blocks.length; at += 5) blocks.writeUInt16BE(0xffff, at + 3);
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(gzipSync('').subarray(0, 10)),
    pull: (controller) => controller.enqueue(blocks),
  });
}

describe('a request body is rejected', () => {
  it.each<[name: string, coding: string, body: () => Body | Buffer, status: number, error: object]>([
    ...['zstd', 'deflate', 'compress', 'gzip, gzip', 'gzip, br', 'gzip;q=1'].map(
      (coding): [string, string, () => Body, number, object] => ['x', coding, () => 'x', 415, unsupported],
    ),
    ['a letter', 'gzip', () => 'x', 400, corrupted('gzip')],
    ['half of it', 'gzip', () => gzipSync(randomBytes(100_000)).subarray(0, 50_000), 400, corrupted('gzip')],
    ['a wrong sum', 'gzip', () => wrongSum, 400, corrupted('gzip')],
    ['letters', 'br', () => 'x'.repeat(100), 400, corrupted('br')],
    ['half of it', 'br', () => brotli(randomBytes(100_000)).subarray(0, 50_000), 400, corrupted('br')],
    ['more than the limit', 'gzip', () => gzipSync(compressible), 413, tooLarge(usualMaxBytes)],
    ['more than the limit', 'br', () => brotli(compressible), 413, tooLarge(usualMaxBytes)],
    ['more than the limit', '', () => Buffer.alloc(usualMaxBytes + 1), 413, tooLarge(usualMaxBytes)],
    [
      'more than the limit in chunks',
      '',
      () => chunked(Buffer.alloc(usualMaxBytes + 1), 1_000),
      413,
      tooLarge(usualMaxBytes),
    ],
    ['more than the limit that inflates to nothing', 'gzip', emptyBlocks, 413, tooLarge(usualMaxBytes)],
  ])('if it is %s in the coding %j', async (_name, coding, body, status, error) => {
    const sent = body();
    const response = await post(
      sent instanceof ReadableStream || typeof sent === 'string' ? sent : Buffer.from(sent),
      coding,
    );
    expect([response.status, await response.json()]).toEqual([status, expect.objectContaining(error)]);
  });

  it.each([
    ['gzip', 10_000_000, 200],
    ['gzip', 10_300_000, 413],
    ['br', 10_000_000, 200],
    ['br', 10_300_000, 413],
  ] as const)(
    'if it inflates a thousandfold by %s to more than 10 MB (%i bytes: %i)',
    async (coding, bytes, status) => {
      maxBytes = inflatedMaxBytes;
      const bomb = Buffer.from(coders[coding](Buffer.alloc(bytes)));
      expect(bomb.length).toBeLessThan(bytes / 500);
      const response = await post(bomb, coding);
      expect(response.status).toBe(status);
      if (status === 413) expect(await response.json()).toMatchObject(inflatesTooMuch);
    },
  );

  it('before its end if it is white space', async () => {
    const receive = (count: number) => {
      const bytes = Buffer.concat([Buffer.from('{}'), Buffer.alloc(count, ' ')]);
      const request = new Request('http://a/', { method: 'POST', body: chunked(bytes, 1_000_000), duplex: 'half' });
      return receiveBody(request, { maxBytes: 200_000_000, memoryBytes: 200_000_000, signal });
    };
    const { whiteSpaceBytes } = fixedLimits;
    expect((await receive(whiteSpaceBytes)).size).toBe(2 + whiteSpaceBytes);
    await expect(receive(whiteSpaceBytes + 1)).rejects.toThrow('more than 64000000 bytes of white space');
  });
});

describe('a client', () => {
  const start = async (length: number | 'chunked', bytes: string | Uint8Array = '') => {
    const socket = await openConnection(serving.url);
    const header = length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`);
    if (bytes.length > 0 && !socket.write(bytes)) await once(socket, 'drain');
    return socket;
  };
  const answered = async (socket: Awaited<ReturnType<typeof start>>) => {
    const { status, headers, body } = await readAnswer(socket);
    socket.destroy();
    return [status, JSON.parse(body.slice(0, Number(headers.get('content-length'))))];
  };

  it('that declares too much is rejected before it sends a byte', async () => {
    expect(await answered(await start(maxBytes + 1))).toEqual([413, tooLarge(maxBytes)]);
  });

  it('that sends too much gets the response even if it reads nothing before it has sent everything', async () => {
    const socket = await start('chunked');
    const block = Buffer.concat([Buffer.from('186a0\r\n'), Buffer.alloc(100_000), Buffer.from('\r\n')]);
    for (let sent = 0; sent < 20 * maxBytes; sent += 100_000) if (!socket.write(block)) await once(socket, 'drain');
    socket.write('0\r\n\r\n');
    expect(await answered(socket)).toEqual([413, tooLarge(maxBytes)]);
  });

  it.each([10, 2 * memoryBytes])('that disconnects after %d bytes cancels the call', async (sent) => {
    const socket = await start(maxBytes, Buffer.alloc(sent));
    await began.promise;
    socket.resetAndDestroy();
    expect(await outcome.promise).toMatchObject({ code: 'CANCELLED' });
  });

  it('that declares more than it sends gets an error about a malformed request', async () => {
    const socket = await start(10, 'abc');
    socket.end();
    const malformed = { code: 3, message: 'malformed HTTP request', details: [errorInfo('HTTP_MALFORMED')] };
    expect(await answered(socket)).toEqual([400, malformed]);
    expect(await outcome.promise).toMatchObject({ code: 'CANCELLED' });
  });

  it('that sends more than it declares has only the declared bytes read', async () => {
    const result = { size: 3, hash: hash(Buffer.from('abc')) };
    expect(await answered(await start(3, 'abcdef'))).toEqual([200, { result, files: [] }]);
  });

  it('that stalls gets a response at the timeout', async () => {
    const time = new AbortController();
    signal = time.signal;
    const socket = await start(10, 'abc');
    await began.promise;
    time.abort(deadlineExceeded());
    expect(await answered(socket)).toEqual([504, { code: 4, message: 'context deadline exceeded' }]);
  });
});

/** The budget of a row, and the bytes that a body may have in memory. */
interface Budget {
  readonly limit?: number;
  readonly memory?: number;
  readonly own?: number;
}

const tooMany = { code: 'RESOURCE_EXHAUSTED', httpStatus: 429, retryAfterSeconds: 5 };
const tooFull = { reason: 'TEMPORARY_SPACE_SHORT', httpStatus: 503, retryAfterSeconds: 5 };
const admitted = '500 500 !1 -0 -0 !501 500 -1 -2 1000';

describe('a budget of all bodies', () => {
  /** Receives chunks; a body without end is received until its call is aborted. */
  function receive(chunks: readonly number[], hasEnd: boolean, { own = 10 }: Budget, budget: BodyBudget) {
    const call = new AbortController();
    const taken = Promise.withResolvers<void>();
    const left = [...chunks];
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const size = left.shift();
          if (size !== undefined) return controller.enqueue(Buffer.alloc(size, 'x'));
          taken.resolve();
          if (hasEnd) controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const request = new Request('http://a/', { method: 'POST', body, duplex: 'half' });
    const received = receiveBody(request, { maxBytes, memoryBytes: own, directory, budget, signal: call.signal });
    received.catch(() => {});
    const close = async () => {
      call.abort();
      await received.then((stored) => stored.close()).catch(() => {});
    };
    return { received, taken: taken.promise, close };
  }

  // A number is a body of that size, which is kept; `!` one that is rejected, `600+600` has two chunks, `600+` no end.
  // `-1` closes the second body, and `free=` is the space of the disk.
  it.each<[name: string, budget: Budget, steps: string]>([
    ['admits as many bytes as it allows in memory, and more when a body is closed', { own: 1_000 }, admitted],
    ['admits as many bytes as it allows in files, and more when a body is closed', {}, admitted],
    ['counts a body while it arrives, and not after it has failed', {}, '600+ !600 -0 !600+600 1000'],
    ['moves bodies to files when all together take too much memory', { limit: 9_999, own: 1_000 }, '1000 1 -0 -1'],
    ['leaves half of the free disk space to others', { limit: 999_999 }, 'free=1000 400 free=600 !201 200'],
  ])('%s', async (_name, options, steps) => {
    let free = Number.MAX_SAFE_INTEGER;
    const budget = new BodyBudget(options.limit ?? 1_000, 1_000, async () => free);
    const bodies: ReturnType<typeof receive>[] = [];
    for (const step of steps.split(' ')) {
      const [, sign = '', numbers = '', more = ''] = /^(!|-|free=)?([\d+]*?\d+)(\+?)$/.exec(step) ?? [];
      if (sign === 'free=') free = Number(numbers);
      else if (sign === '-') await bodies[Number(numbers)]?.close();
      else {
        const body = receive(numbers.split('+').map(Number), more === '', options, budget);
        if (sign === '!')
          await expect(body.received, step).rejects.toMatchObject(free < Number.MAX_SAFE_INTEGER ? tooFull : tooMany);
        else bodies.push(body);
        if (sign === '') await (more === '' ? body.received : body.taken);
      }
      expect(budget.isMemoryFull, step).toBe(false);
    }
    for (const body of bodies) await body.close();
  });

  it('refuses a body while the disk is full', async () => {
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const budget = new BodyBudget(1_000, 1_000, () => Promise.reject(full));
    await expect(receive([300], true, {}, budget).received).rejects.toMatchObject({ ...tooFull, cause: full });
  });

  it('counts bodies that move to files at the same moment', async () => {
    const asked = Promise.withResolvers<number>();
    const budget = new BodyBudget(1_000_000, 1_000, () => asked.promise);
    const moving = [receive([300], true, {}, budget), receive([300], true, {}, budget)];
    asked.resolve(500);
    const ended = await Promise.allSettled(moving.map(({ received }) => received));
    expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))).toMatchObject([tooFull]);
    for (const { close } of moving) await close();
  });
});

describe('the body of an operation', () => {
  const LIMIT = 4_000;
  const EXPORT_LIMIT = 4_000_000;
  const served = setUpOnce(async () => {
    const instance = await testInstance(await openTestStore(), 'test', { limits: { requestBytes: LIMIT } });
    return { instance, serving: await serve({ app: instance.app, host: '127.0.0.1', port: 0 }) };
  });
  const importOf = (size: number) => JSON.stringify({ data_orgs: { orgs: [organisation(`of ${size}`)] } }).padEnd(size);
  const larger = `the request body exceeds ${LIMIT} bytes: `;

  it.each<[name: string, operation: string, body: () => Body, status: number, message: string, token?: string]>([
    ['as large as the limit', 'import', () => importOf(LIMIT), 200, ''],
    ['a byte larger', 'import', () => importOf(LIMIT + 1), 413, larger],
    ['much larger', 'import', () => importOf(1_000 * LIMIT), 413, larger],
    ['much larger, of undeclared length', 'import', () => new Blob([importOf(20 * LIMIT)]).stream(), 413, larger],
    ['with a byte order mark', 'import', () => `\ufeff${importOf(201)}`, 200, ''],
    ['with a byte order mark', 'export', () => '\ufeff{"response_output":true}', 200, ''],
    [
      'half a character of UTF-16',
      'export',
      () => new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d]),
      400,
      'the text is not valid UTF-16',
    ],
    ['as large as the limit of exports', 'export', () => '{"response_output":true}'.padEnd(EXPORT_LIMIT), 200, ''],
    ['a byte larger', 'export', () => ' '.repeat(EXPORT_LIMIT + 1), 413, 'the request body exceeds 4000000 bytes'],
    ['much larger, with a wrong token', 'import', () => importOf(20 * LIMIT), 401, 'Errors.Token', 'notreal'],
    ['much larger, without a token', 'import', () => importOf(20 * LIMIT), 401, 'auth header missing', ''],
    ['small after all these', 'import', () => importOf(200), 200, ''],
  ])('that is %s gets its response from %s', async (_name, operation, body, status, message, token) => {
    const { instance, serving } = served();
    const orgs = async () => (await instance.export()).orgs.length;
    const before = await orgs();
    const given = token ?? instance.token;
    const headers = given === '' ? {} : { authorization: `Bearer ${given}` };
    const request = { method: 'POST', headers, body: body(), duplex: 'half' } as const;
    const response = await fetch(`${serving.url}/admin/v1/${operation}`, request);
    const answer = await response.text();
    expect([response.status, answer]).toEqual([status, expect.stringContaining(message)]);
    if (message === larger) expect(answer).toContain('data_orgsv1_gcs');
    expect(await orgs()).toBe(before + (status === 200 && operation === 'import' ? 1 : 0));
  });

  it.each(['export', 'import'])('that never ends has the longest time for a call: %s', async (operation) => {
    const slow: TestInstance = await testInstance(await openTestStore(), 'test', { limits: { timeoutMs: 20 } });
    const headers = { authorization: `Bearer ${slow.token}`, 'content-type': 'application/json' };
    const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('{')) });
    const path = `/admin/v1/${operation}`;
    const response = await slow.app.request(path, { method: 'POST', body, headers, duplex: 'half' });
    expect([response.status, await response.json()]).toMatchObject([504, { code: 4 }]);
  });
});
