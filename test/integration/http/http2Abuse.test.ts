import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HttpServerOptions } from '../../../shared/http/server.ts';
import { fixedLimits } from '../../../shared/limits.ts';
import { gatedServer } from '../../support/http/gatedServer.ts';
import {
  END_HEADERS,
  END_STREAM,
  getBlock,
  goAway,
  http2Frame,
  literal,
  noWindow,
  preface,
  repeatedFrame,
  resetRequests,
} from '../../support/http/http2Frames.ts';

const SHORT_MS = 100;
const handled: string[] = [];
let socket: Socket;

const server = gatedServer(() =>
  ['/', '/small', '/large'].map((path) => ({
    method: 'GET',
    path,
    handler: (context) => {
      handled.push(path);
      return context.text(path === '/large' ? 'x'.repeat(1_000_000) : 'small');
    },
  })),
);

async function startWith(limits: HttpServerOptions) {
  await server.start({ keepAliveMs: 600_000, headersMs: 600_000, ...limits });
  socket = (await server.open()).resume();
}

beforeEach(() => {
  handled.length = 0;
});

afterEach(async () => {
  socket.destroy();
  expect((await fetch(`${server.url}/small`)).status).toBe(200);
});

/** Sends bytes repeatedly until the server ends the connection. Returns the number of sent bytes. */
async function sendUntilClosed(bytes: Uint8Array, pause: () => Promise<unknown> = setImmediate): Promise<number> {
  let sent = 0;
  while (socket.writable && !socket.readableEnded) {
    if (!socket.write(bytes)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined);
    sent += bytes.byteLength;
    await pause();
  }
  return sent;
}

/** The length, type and flags of a GOAWAY without debug data. */
const GO_AWAY = Buffer.from('0000080700', 'hex');

/** Resolves when the connection receives the given bytes in one chunk. */
function receives(bytes: string | Buffer): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on('data', (chunk: Buffer) => void (chunk.includes(bytes) && resolve()));
  return promise;
}

const opened = Buffer.concat([preface, http2Frame('settings')]);
const unfinishedHeaders = http2Frame('headers', { flags: END_STREAM, stream: 1, payload: literal(':method', 'GET') });
/** The head of a frame of 10,000 bytes. */
const halfFrame = http2Frame('headers', { flags: END_STREAM, stream: 1, payload: Buffer.alloc(10_000) }).subarray(0, 9);

const ask = (path: string, stream: number) =>
  http2Frame('headers', { flags: END_STREAM | END_HEADERS, stream, payload: getBlock(path) });

describe('a connection of HTTP/2 without a request', () => {
  it.each([
    ['half the preface', preface.subarray(0, 8), Buffer.alloc(0)],
    ['the preface alone', preface, Buffer.alloc(0)],
    ['its settings', opened, Buffer.alloc(0)],
    ['headers without an end', Buffer.concat([opened, http2Frame('headers', { stream: 1 })]), Buffer.alloc(0)],
    ['half a frame', Buffer.concat([opened, halfFrame]), Buffer.alloc(0)],
    ['headers that continue', Buffer.concat([opened, unfinishedHeaders]), http2Frame('continuation', { stream: 1 })],
    ['pings', opened, http2Frame('ping', { payload: Buffer.alloc(8) })],
  ])('is closed in time although it sends %s', async (_name, start, drip) => {
    await startWith({ keepAliveMs: SHORT_MS, headersMs: 3 * SHORT_MS });
    socket.write(start);
    let ended = false;
    socket.once('end', () => {
      ended = true;
    });
    // One frame a tick at most is far below a flood.
    await sendUntilClosed(drip, () => new Promise((resolve) => setTimeout(resolve, SHORT_MS / 10)));
    if (!ended && !socket.closed) await Promise.race([once(socket, 'end'), once(socket, 'close')]);
    expect(handled).toEqual([]);
  });
});

describe('a flood over HTTP/2', () => {
  it.each([
    [
      'continuations',
      Buffer.concat([
        unfinishedHeaders,
        repeatedFrame(10, http2Frame('continuation', { stream: 1, payload: Buffer.alloc(16_000) })),
      ]),
    ],
    [
      'empty continuations',
      Buffer.concat([unfinishedHeaders, repeatedFrame(1_000, http2Frame('continuation', { stream: 1 }))]),
    ],
    ['pings', repeatedFrame(5_000, http2Frame('ping', { payload: Buffer.alloc(8) }))],
    ['settings', repeatedFrame(5_000, http2Frame('settings'))],
    ['window updates of zero', repeatedFrame(5_000, http2Frame('windowUpdate', { payload: Buffer.alloc(4) }))],
  ])('of %s ends its connection, and starts no request', async (_name, frames) => {
    await startWith({});
    socket.write(opened);
    expect(await sendUntilClosed(frames)).toBeLessThan(50_000_000);
    expect(handled).toEqual([]);
  });
});

describe('requests that their client resets at once', () => {
  /** Starts a server whose connection has its settings: requests read before them start no handler either way. */
  async function startInUse(): Promise<void> {
    await startWith({});
    const settings = once(socket, 'data');
    socket.write(opened);
    await settings;
  }

  it('start no handler, and leave the connection usable', async () => {
    await startInUse();
    const answer = receives('small');
    const most = fixedLimits.streamsPerConnection;
    socket.write(Buffer.concat([resetRequests(most), ask('/small', 2 * most + 1)]));
    await answer;
    expect(handled).toEqual(['/small']);
  });

  it('end the connection if there are more than its limit', async () => {
    await startInUse();
    const refused = receives(GO_AWAY);
    socket.write(resetRequests(990));
    await refused;
    expect(handled).toEqual([]);
  });
});

it('a stream that ends with its connection before any handler has seen it leaves the server running', async () => {
  await startWith({});
  const fatal = http2Frame('windowUpdate', { payload: Buffer.alloc(4) });
  const ended = once(socket, 'end');
  socket.write(Buffer.concat([opened, ask('/small', 1), fatal]));
  await ended;
  expect(handled).toEqual([]);
});

it("a connection that fails within a response after its client's GOAWAY is closed in time", async () => {
  await startWith({ stallMs: SHORT_MS, keepAliveMs: SHORT_MS });
  const ended = Promise.race([once(socket, 'end'), once(socket, 'close')]);
  const endless = http2Frame('headers', { flags: END_HEADERS, stream: 1, payload: getBlock('/small') });
  const malformed = http2Frame('continuation', { stream: 1 });
  socket.write(Buffer.concat([opened, endless, goAway(0, 0), malformed]));
  await ended;
});

describe('a client of HTTP/2 that accepts no content', () => {
  it.each(['/small', '/large'])('loses its streams, and then its connection: %s', async (path) => {
    await startWith({ stallMs: SHORT_MS, keepAliveMs: SHORT_MS });
    const streams = Array.from({ length: fixedLimits.streamsPerConnection }, (_, index) => ask(path, 2 * index + 1));
    const ended = once(socket, 'end');
    socket.write(Buffer.concat([preface, noWindow(), ...streams]));
    await ended;
    expect(handled).toHaveLength(fixedLimits.streamsPerConnection);
  });
});
