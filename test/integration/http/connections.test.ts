import { once } from 'node:events';
import type { Socket } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { startProgram } from '../../../tools/program.ts';
import { gatedServer } from '../../support/http/gatedServer.ts';
import { beginHttp2, openStream, readStream } from '../../support/http/http2.ts';
import { preface } from '../../support/http/http2Frames.ts';
import { ask, ended, openConnection, readAnswer } from '../../support/http/rawHttp.ts';
import { init } from '../../support/instances/commandInstance.ts';
import { identityProgram } from '../../support/processes/programs.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';

const hello = 'GET /hello HTTP/1.1\r\nHost: a\r\n\r\n';
const slow = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n';

const server = gatedServer();
/** Only the limit under test closes connections. */
const patient = { headersMs: 600_000, keepAliveMs: 600_000 };

/** Opens a connection whose request has a response. */
async function openUsed(): Promise<Socket> {
  const socket = await server.open(hello);
  expect((await readAnswer(socket)).status).toBe(200);
  return socket;
}

/** Returns the status of a request over a new connection; undefined if the server closes it. */
const newStatus = () =>
  ask(server.url, 'GET /hello').then(
    ({ status }) => status,
    () => undefined,
  );

describe('a server at its limit of connections', () => {
  it.each([
    ['send nothing', ''],
    ['begin a request', 'GET /hello HTTP/1.1\r\nHost: a\r\n'],
    ['have had a response', hello],
  ])('keeps those that %s, and closes a new one until one of them ends', async (_name, text) => {
    await server.start({ ...patient, connections: 3 });
    const [first] = [await server.open(text), await server.open(text), await server.open(text)];
    expect(await newStatus()).toBeUndefined();
    expect(first?.destroyed).toBe(false);
    first?.destroy();
    await expect.poll(newStatus).toBe(200);
  });
});

it('connections of HTTP/2 are limited to a tenth; a further one is closed, and HTTP/1 is served', async () => {
  await server.start({ ...patient, connections: 20 });
  const [first] = [await server.openSession(), await server.openSession()];
  const opened = async () => {
    const socket = await server.open('');
    const answered = Promise.race([once(socket, 'data').then(() => true), ended(socket).then(() => false)]);
    socket.write(preface);
    return answered;
  };
  expect(await opened()).toBe(false);
  expect(await newStatus()).toBe(200);
  first?.destroy();
  await expect.poll(opened).toBe(true);
});

describe('a connection without a request', () => {
  beforeEach(async () => void (await server.start({ ...patient, keepAliveMs: 50 })));

  it('is closed after a while, over HTTP/1', async () => {
    await ended(await openUsed());
  });

  it('is left alone as long as it has a request, and closed after it', async () => {
    // Its request comes with the connection: a slow machine would find the connection closed before.
    const session = beginHttp2(server.url);
    onTestFinished(() => session.destroy());
    const stream = openStream(session, { path: '/slow' });
    await server.entered.promise;
    server.entered = Promise.withResolvers();
    server.waiting = 0;
    const other = await server.open(slow);
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
  const socket = await server.open('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  await once(socket, 'data');
  socket.end();
  await ended(socket);
});

describe.skipIf(process.platform === 'win32')('identity serve with 256 open files at most', () => {
  it('serves again after one client has opened 400 connections', async () => {
    await server.start(patient);
    const { path, remove } = await temporaryDirectory();
    const { token } = await init(['--data', path]);
    const [node, script] = identityProgram;
    const limited = ['-c', 'ulimit -n 256; exec "$0" "$@"', node, script, 'serve', '--data', path, '--port', '0'];
    const program = await startProgram('sh', limited, /listening on (\S+)/);
    const url = program.ready[1] ?? '';
    const texts = [hello, '', 'GET /openapi.json HTTP/1.1\r\n', ''];
    const sockets = await Promise.all(
      Array.from({ length: 400 }, async (_, index) => {
        const socket = await openConnection(url);
        socket.on('error', () => undefined).resume();
        socket.write(texts[index % texts.length] ?? '');
        return socket;
      }),
    );
    for (const socket of sockets) socket.destroy();
    const headers = { authorization: `Bearer ${token}` };
    const removal = () =>
      ask(url, 'DELETE /v2/users/1/otp_email', headers).then(
        ({ status }) => status,
        () => undefined,
      );
    await expect.poll(removal).toBe(404);
    expect((await program.stop()).code).toBe(0);
    await remove();
  });
});
