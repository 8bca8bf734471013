import { once } from 'node:events';
import type { ClientHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createApp, type Route } from '../../shared/http/app.ts';
import { type RunningServer, serve } from '../../shared/http/serve.ts';
import { configureLog } from '../../shared/log.ts';
import { startProgram } from '../../tools/program.ts';
import { connectHttp2, openStream, readStream } from '../support/http/http2.ts';
import { openConnection, readAnswer } from '../support/http/rawHttp.ts';
import { init } from '../support/instances/commandInstance.ts';
import { identityProgram } from '../support/processes/programs.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

const hello = 'GET /hello HTTP/1.1\r\nHost: a\r\n\r\n';
const slow = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n';
const LIMIT = 3;

let gate: PromiseWithResolvers<void>;
let entered: PromiseWithResolvers<void>;
let serving: RunningServer;
let sockets: (Socket | ClientHttp2Session)[];

const routes: Route[] = [
  // More than a connection's buffers take.
  { method: 'GET', path: '/large', handler: () => new Response(Buffer.alloc(50_000_000)) },
  { method: 'GET', path: '/hello', handler: (context) => context.text('hello') },
  {
    method: 'GET',
    path: '/slow',
    handler: async (context) => {
      entered.resolve();
      await gate.promise;
      return context.text('slow');
    },
  },
];

// The limit under test alone closes connections.
const patient = { headersMs: 600_000, keepAliveMs: 600_000 };
const start = (limits: Parameters<typeof serve>[0]['limits']) =>
  serve({ app: createApp({ routes }), host: '127.0.0.1', port: 0, limits: { ...patient, ...limits } });

beforeEach(async () => {
  configureLog('silent');
  gate = Promise.withResolvers();
  entered = Promise.withResolvers();
  sockets = [];
  serving = await start({ connections: LIMIT });
});

afterEach(async () => {
  gate.resolve();
  for (const socket of sockets) socket.destroy();
  await serving.close();
});

/** Opens a connection that sends some text; it resets are no errors here. */
async function open(text: string): Promise<Socket> {
  const socket = await openConnection(serving.url);
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.write(text);
  return socket;
}

async function openIdle(): Promise<Socket> {
  const socket = await open(hello);
  expect((await readAnswer(socket)).status).toBe(200);
  return socket;
}

async function openSlow(): Promise<Socket> {
  entered = Promise.withResolvers();
  const socket = await open(slow);
  await entered.promise;
  return socket;
}

async function answers(socket: Socket): Promise<number> {
  socket.write(hello);
  return (await readAnswer(socket)).status;
}

/** Resolves when the server has closed a connection. */
async function closed(socket: Socket): Promise<void> {
  if (socket.readableEnded || socket.closed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.once('end', resolve).once('close', resolve).resume();
  await promise;
}

describe('a server at its limit of connections', () => {
  it('keeps as many as it allows', async () => {
    const idle = [await openIdle(), await openIdle(), await openIdle()];
    expect(await Promise.all(idle.map(answers))).toEqual([200, 200, 200]);
  });

  it('closes the one without a request for the longest time, for the sake of a new one', async () => {
    const [first, second, third] = [await openIdle(), await openIdle(), await openIdle()];
    await answers(first);
    const fourth = await openIdle();
    await closed(second);
    expect(await Promise.all([first, third, fourth].map(answers))).toEqual([200, 200, 200]);
  });

  it.each([
    ['nothing', ''],
    ['half its headers', 'GET /hello HTTP/1.1\r\nHost: a\r\n'],
  ])('closes one that has sent %s', async (_name, text) => {
    const waiting = await open(text);
    await Promise.all([openIdle(), openIdle()]);
    await openIdle();
    await closed(waiting);
  });

  it('closes a session of HTTP/2 without a stream, and none with one', async () => {
    const [idle, busy] = [await connectHttp2(serving.url), await connectHttp2(serving.url)];
    sockets.push(idle, busy);
    const stream = openStream(busy, { path: '/slow' });
    await entered.promise;
    const left = once(idle, 'close');
    await openIdle();
    await openIdle();
    await left;
    await openIdle();
    gate.resolve();
    expect((await readStream(stream)).status).toBe(200);
  });

  it('gives a new one 503 where all have requests in flight, and takes the next after one has ended', async () => {
    const busy = [await openSlow(), await openSlow(), await openSlow()];
    const refused = await openConnection(serving.url);
    const { status, headers, body } = await readAnswer(refused);
    refused.destroy();
    expect([status, headers.get('retry-after'), headers.get('connection')]).toEqual([503, '1', 'close']);
    expect(JSON.parse(body)).toEqual({ code: 14, message: 'too many connections: retry the request' });
    gate.resolve();
    expect(await Promise.all(busy.map(async (socket) => (await readAnswer(socket)).body))).toEqual([
      'slow',
      'slow',
      'slow',
    ]);
    await openIdle();
  });
});

describe('a server full of connections that take none of their responses', () => {
  const large = 'GET /large HTTP/1.1\r\nHost: a\r\n\r\n';
  const fill = async (limits: Parameters<typeof start>[0]) => {
    await serving.close();
    serving = await start(limits);
    const stalled: Socket[] = [];
    for (let count = 0; count < LIMIT; count++) {
      const socket = await open(large);
      await once(socket, 'readable');
      stalled.push(socket);
    }
    return stalled;
  };
  const statusOfNew = async () => {
    const socket = await openConnection(serving.url);
    sockets.push(socket);
    socket.write(hello);
    return (await readAnswer(socket)).status;
  };

  it('closes one that does not take its response for long enough, for the sake of a new one', async () => {
    await fill({ connections: LIMIT, stallGraceMs: 0 });
    expect(await statusOfNew()).toBe(200);
  });

  it('gives a new one 503 where none has stalled for long', async () => {
    await fill({ connections: LIMIT, stallGraceMs: 600_000 });
    expect(await statusOfNew()).toBe(503);
  });

  it('aborts a stalled response for the sake of a new request, also over HTTP/2', async () => {
    await serving.close();
    serving = await start({ requests: LIMIT, stallGraceMs: 0 });
    const session = await connectHttp2(serving.url);
    sockets.push(session);
    const streams = Array.from({ length: LIMIT }, () => openStream(session, { path: '/large' }));
    // Their windows are full, since nobody reads.
    await Promise.all(
      streams.map((stream) =>
        once(
          stream.on('error', () => undefined),
          'response',
        ),
      ),
    );
    await expect.poll(statusOfNew).toBe(200);
    const last = openStream(session, { path: '/hello' });
    last.end();
    expect((await readStream(last)).status).toBe(200);
  });

  it('keeps the connection of a client that waits for a slow response', async () => {
    await serving.close();
    serving = await start({ connections: 1, stallGraceMs: 0 });
    await openSlow();
    expect(await statusOfNew()).toBe(503);
  });
});

describe('a connection without a request', () => {
  beforeEach(async () => {
    await serving.close();
    serving = await start({ keepAliveMs: 50 });
  });

  it('is closed after a while, over HTTP/1', async () => {
    await closed(await openIdle());
  });

  it('is closed after a while, over HTTP/2', async () => {
    const session = await connectHttp2(serving.url);
    await once(session, 'close');
  });

  it('is closed after a while, over HTTP/2 with a stream whose headers never end', async () => {
    const settings = '000000040000000000';
    const headers = '000000010000000001';
    const socket = await open('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(Buffer.from(settings + headers, 'hex'));
    await closed(socket);
  });

  it('is left alone as long as it has one, and closed after it', async () => {
    const session = await connectHttp2(serving.url);
    sockets.push(session);
    const stream = openStream(session, { path: '/slow' });
    const other = await openSlow();
    await closed(await openIdle());
    expect([session.closed, other.destroyed]).toEqual([false, false]);
    const left = once(session, 'close');
    gate.resolve();
    expect([(await readStream(stream)).status, (await readAnswer(other)).status]).toEqual([200, 200]);
    await left;
    await closed(other);
  });
});

it("a session of HTTP/2 ends with the client's side of the connection", async () => {
  const socket = await open('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  await once(socket, 'data');
  socket.end();
  await closed(socket);
});

describe.skipIf(process.platform === 'win32')('identity serve with 256 open files at most', () => {
  it.each([
    ['have been used', hello],
    ['say nothing', ''],
    ['begin a request', 'GET /openapi.json HTTP/1.1\r\n'],
  ])('serves others while 400 connections %s', async (_name, text) => {
    const { path, remove } = await temporaryDirectory();
    const { token } = await init(['--data', path]);
    const [node, script] = identityProgram;
    const limited = ['-c', 'ulimit -n 256; exec "$0" "$@"', node, script, 'serve', '--data', path, '--port', '0'];
    const program = await startProgram('sh', limited, /listening on (\S+)/);
    const url = program.ready[1] ?? '';
    await Promise.all(
      Array.from({ length: 400 }, async () => {
        const socket = await openConnection(url);
        sockets.push(socket);
        socket.on('error', () => undefined).resume();
        socket.write(text);
      }),
    );
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/v2/users/1/otp_email`, { method: 'DELETE', headers });
    expect(response.status).toBe(404);
    expect((await program.stop()).code).toBe(0);
    await remove();
  });
});
