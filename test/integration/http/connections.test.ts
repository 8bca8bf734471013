import { once } from 'node:events';
import { constants } from 'node:http2';
import type { Socket } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startProgram } from '../../../tools/program.ts';
import { errorInfo } from '../../support/http/errorInfo.ts';
import { gatedServer } from '../../support/http/gatedServer.ts';
import { openStream, readStream } from '../../support/http/http2.ts';
import { goAway, http2Frame, preface } from '../../support/http/http2Frames.ts';
import { ask, ended, openConnection, readAnswer } from '../../support/http/rawHttp.ts';
import { init } from '../../support/instances/commandInstance.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

const hello = 'GET /hello HTTP/1.1\r\nHost: a\r\n\r\n';
const slow = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n';
const [one, other] = ['127.0.0.2', '127.0.0.3'] as const;

const server = gatedServer();
/** The limit under test alone closes connections. */
const patient = { headersMs: 600_000, keepAliveMs: 600_000 };

const open = (text: string, from: string = one) => server.open(text, from);

/** Opens a connection whose request has a response. */
async function openUsed(): Promise<Socket> {
  const socket = await open(hello);
  expect((await readAnswer(socket)).status).toBe(200);
  return socket;
}

const statusFrom = async (address: string) => (await ask(server.url, 'GET /hello', {}, address)).status;

describe('a server at its limit of connections', () => {
  it.each([
    ['say nothing', ''],
    ['begin a request', 'GET /hello HTTP/1.1\r\nHost: a\r\n'],
    ['have had a response', hello],
  ])('keeps those that %s, and gives a new one 503 until one of them ends', async (_name, text) => {
    await server.start({ ...patient, connections: 3, perClient: 3 });
    const [first] = [await open(text), await open(text), await open(text)];
    expect(first?.destroyed).toBe(false);
    const { status, headers, body } = await ask(server.url, 'GET /hello', {}, other);
    expect([status, headers.get('retry-after'), headers.get('connection')]).toEqual([503, '1', 'close']);
    expect(JSON.parse(body)).toEqual({
      code: 14,
      message: 'too many connections: retry the request',
      details: [errorInfo('TOO_MANY_CONNECTIONS')],
    });
    first?.destroy();
    await expect.poll(() => statusFrom(other)).toBe(200);
  });

  it('closes the connection that it rejects at once, although a body is coming', async () => {
    await server.start({ ...patient, connections: 1, perClient: 1 });
    await openUsed();
    const rejected = await open('POST /hello HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n', other);
    expect((await readAnswer(rejected)).status).toBe(503);
    await ended(rejected);
  });
});

/** Opens a connection of HTTP/2. Returns the first frames that it gets. */
async function greeting(): Promise<unknown> {
  const socket = await open('');
  const received = once(socket, 'data');
  socket.write(preface);
  const [frames] = await received;
  return frames;
}

it('a tenth of the connections may be HTTP/2: a further one is told to calm down, and HTTP/1 is served', async () => {
  await server.start({ ...patient, connections: 20, perClient: 20 });
  const [first] = [await server.openSession(), await server.openSession()];
  const refusal = Buffer.concat([http2Frame('settings'), goAway(0, constants.NGHTTP2_ENHANCE_YOUR_CALM)]);
  expect(await greeting()).toEqual(refusal);
  expect(await statusFrom(other)).toBe(200);
  first?.destroy();
  await expect.poll(greeting).not.toEqual(refusal);
});

describe('one client', () => {
  it('has no more connections than its own limit, and others are served', async () => {
    await server.start({ ...patient, connections: 4, perClient: 2 });
    const [first] = [await openUsed(), await openUsed()];
    expect(await statusFrom(one)).toBe(503);
    expect([await statusFrom(other), await statusFrom(other), await statusFrom(other)]).toEqual([200, 200, 200]);
    first?.destroy();
    await expect.poll(() => statusFrom(one)).toBe(200);
  });

  it('may have all connections if it is a proxy', async () => {
    await server.start({ ...patient, connections: 4, perClient: 2, trustedProxies: 1 });
    for (let count = 0; count < 4; count++) await openUsed();
    expect(await statusFrom(one)).toBe(503);
  });
});

describe('a connection without a request', () => {
  beforeEach(async () => void (await server.start({ ...patient, keepAliveMs: 50 })));

  it('is closed after a while, over HTTP/1', async () => {
    await ended(await openUsed());
  });

  it('is closed after a while, over HTTP/2', async () => {
    const session = await server.openSession();
    await once(session, 'close');
  });

  it('is closed after a while, over HTTP/2 with a stream whose headers never end', async () => {
    const settings = '000000040000000000';
    const headers = '000000010000000001';
    const socket = await open('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(Buffer.from(settings + headers, 'hex'));
    await ended(socket);
  });

  it('is left alone as long as it has one, and closed after it', async () => {
    const session = await server.openSession();
    const stream = openStream(session, { path: '/slow' });
    await server.entered.promise;
    server.entered = Promise.withResolvers();
    server.waiting = 0;
    const other = await open(slow);
    await server.entered.promise;
    await ended(await openUsed());
    expect([session.closed, other.destroyed]).toEqual([false, false]);
    const left = once(session, 'close');
    server.gate.resolve();
    expect([(await readStream(stream)).status, (await readAnswer(other)).status]).toEqual([200, 200]);
    await left;
    await ended(other);
  });
});

it("a session of HTTP/2 ends with the client's side of the connection", async () => {
  await server.start(patient);
  const socket = await open('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  await once(socket, 'data');
  socket.end();
  await ended(socket);
});

describe.skipIf(process.platform === 'win32')('identity serve with 256 open files at most', () => {
  it('serves others while one client opens 400 connections', async () => {
    await server.start(patient);
    const { path, remove } = await temporaryDirectory();
    const { token } = await init(['--data', path]);
    const [node, script] = identityProgram;
    const limited = ['-c', 'ulimit -n 256; exec "$0" "$@"', node, script, 'serve', '--data', path, '--port', '0'];
    const program = await startProgram('sh', limited, /listening on (\S+)/);
    const url = program.ready[1] ?? '';
    const texts = [hello, '', 'GET /openapi.json HTTP/1.1\r\n', ''];
    await Promise.all(
      Array.from({ length: 400 }, async (_, index) => {
        const socket = await openConnection(url, one);
        onTestFinished(() => void socket.destroy());
        socket.on('error', () => undefined).resume();
        socket.write(texts[index % texts.length] ?? '');
      }),
    );
    const headers = { authorization: `Bearer ${token}` };
    expect((await ask(url, 'DELETE /v2/users/1/otp_email', headers, other)).status).toBe(404);
    expect((await program.stop()).code).toBe(0);
    await remove();
  });
});
