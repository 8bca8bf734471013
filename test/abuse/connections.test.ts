import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { fixedLimits } from '../../shared/limits.ts';
import { frame } from '../support/http/grpcFrames.ts';
import { connectHttp2, openStream, readStream } from '../support/http/http2.ts';
import { http2Frame, preface, resetRequests } from '../support/http/http2Frames.ts';
import { ask, ended, openConnection, readAnswer } from '../support/http/rawHttp.ts';
import { type AbusedServer, startAbusedSqlite } from './support/abusedServer.ts';
import { sizes } from './support/abuseTable.ts';
import { askMeanwhile } from './support/requests.ts';

const RPC = '/zitadel.user.v2.UserService/RemoveOTPEmail';
const CALLS = 100;
const [ATTACKER, OTHER] = ['127.0.9.1', '127.0.9.2'] as const;

/** A removal of a factor of nobody, which reads the database. */
async function removal({ url, token }: AbusedServer, from?: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  expect((await ask(url, 'DELETE /v2/users/1/otp_email', headers, from)).status).toBe(404);
}

async function open({ url }: AbusedServer, text: string, from?: string): Promise<Socket> {
  const socket = await openConnection(url, from);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined).write(text);
  return socket;
}

const post = (path: string, headers = '') =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\n${headers}Content-Length: 100\r\n\r\n`;

it('bodies that never end keep nobody else out, and are closed in time', async (context) => {
  const server = await startAbusedSqlite();
  const times = Array.from({ length: CALLS });
  const strangers = times.map(async (_, index) => {
    const socket = await open(server, `${post(index % 2 === 0 ? '/admin/v1/import' : '/admin/v1/export')}{`);
    expect((await readAnswer(socket)).status).toBe(401);
    await ended(socket);
  });
  const authorization = `Bearer ${server.token}`;
  const start = frame(0, Buffer.alloc(9)).subarray(0, 7);
  const callers = times.map(async () => {
    const socket = await open(
      server,
      post(RPC, `Authorization: ${authorization}\r\nContent-Type: application/grpc-web\r\n`),
    );
    socket.write(start);
    let text = '';
    for await (const chunk of socket) {
      text += String(chunk);
      if (text.includes('\r\n\r\n')) break;
    }
    expect(text).toMatch(/grpc-status: 4\r\n/i);
  });
  const session = await connectHttp2(server.url);
  onTestFinished(() => session.destroy());
  const streams = times.map(async () => {
    const headers = { authorization, 'content-type': 'application/grpc' };
    const stream = openStream(session, { method: 'POST', path: RPC, headers });
    stream.write(start);
    expect((await readStream(stream)).headers['grpc-status']).toBe('4');
  });
  const work = Promise.all([Promise.all(strangers), Promise.all(callers), Promise.all(streams)]);
  const { answered } = await askMeanwhile(work, () => removal(server));
  expect(answered).toBeGreaterThan(10);
  await server.expectSound(context, 'heldBodies');
});

it('callers without a token, whose bodies never come, hold no connection', async (context) => {
  const server = await startAbusedSqlite({ MAX_CONNECTIONS: '20' });
  for (let client = 1; client <= 20; client++) {
    const socket = await open(server, `${post('/admin/v1/import')}{`, `127.0.1.${client}`);
    expect((await readAnswer(socket)).status).toBe(401);
    await ended(socket);
  }
  // The clients keep their side open: only the server frees their places.
  await expect.poll(() => freeConnections(server), { timeout: 30_000 }).toBe(20);
  await server.expectSound(context, 'refusedBodies');
});

/** Returns how many connections other clients get before one is rejected, up to all. */
async function freeConnections({ url }: AbusedServer): Promise<number> {
  const accepted: Socket[] = [];
  for (let client = 1; client <= 20; client++) {
    const socket = await openConnection(url, `127.0.100.${client}`);
    socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
    if ((await readAnswer(socket)).status !== 200) break;
    accepted.push(socket);
  }
  // The server ends them, so that none counts any more afterwards.
  for (const socket of accepted) socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  await Promise.all(accepted.map(ended));
  return accepted.length;
}

it('ten connections with 13,000 requests, whose responses nobody reads, keep nobody else out', async (context) => {
  const server = await startAbusedSqlite();
  const request = 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n';
  const sockets = await Promise.all(Array.from({ length: 10 }, () => open(server, request.repeat(1_300))));
  for (let answered = 0; answered < 20; answered++) await removal(server, OTHER);
  await Promise.all(sockets.map(ended));
  await server.expectSound(context, 'pipelined');
});

/** Opens streams whose client takes no content; resolves when each has headers, or is refused. */
async function openUnread(session: ClientHttp2Session): Promise<readonly ClientHttp2Stream[]> {
  const streams = Array.from({ length: fixedLimits.streamsPerConnection }, () =>
    openStream(session, { path: '/openapi.json' }).end(),
  );
  const answered = streams.map((stream) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    stream.on('error', () => undefined).once('response', () => resolve());
    stream.once('close', () => resolve());
    return promise;
  });
  await Promise.all(answered);
  return streams;
}

it('1,600 streams of one client that take no content, reset and opened again, keep nobody else out', async (context) => {
  const server = await startAbusedSqlite();
  const connect = async () => {
    const session = await connectHttp2(server.url, { initialWindowSize: 0 }, ATTACKER);
    onTestFinished(() => session.destroy());
    return session.on('error', () => undefined);
  };
  let victim = 0;
  for (let round = 0; round < sizes.streamRounds; round++) {
    const sessions = await Promise.all(Array.from({ length: 16 }, connect));
    const opened = await Promise.all(sessions.map(openUnread));
    const taken = opened.flat().filter(({ destroyed }) => !destroyed).length;
    // Half of the default of MAX_CONNECTIONS.
    expect(taken).toBe(500);
    for (let count = 0; count < 20; count++) {
      victim++;
      const from = `127.0.${1 + (victim >> 8)}.${victim & 255}`;
      expect((await ask(server.url, 'GET /healthz', {}, from)).status).toBe(200);
      await removal(server, from);
    }
    expect((await ask(server.url, 'GET /healthz', {}, ATTACKER)).status).toBe(503);
    const closed = opened.flat().map((stream) => (stream.destroyed ? undefined : once(stream, 'close')));
    for (const stream of opened.flat()) stream.close(constants.NGHTTP2_CANCEL);
    await Promise.all(closed);
    for (const session of sessions) session.destroy();
    await expect.poll(async () => (await ask(server.url, 'GET /healthz', {}, ATTACKER)).status).toBe(200);
  }
  await server.expectSound(context, 'unreadStreams');
});

/** Has the server read what clients send on several connections at once, as if they were faster than it on any machine. */
async function sendTogether(pid: number, sockets: readonly Socket[], bytes: Uint8Array): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  try {
    for (const socket of sockets) socket.write(bytes);
    // The system takes as much as its buffers hold.
    await setTimeout(1_000);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

const opening = Buffer.concat([preface, http2Frame('settings')]);
const nothing = Buffer.alloc(0);

/** What each of 500 connections sends, and all of them together after that. */
const floods = [
  { name: 'resetStreams', start: opening, bytes: resetRequests(990) },
  { name: 'resetStreams', start: nothing, bytes: Buffer.concat([opening, resetRequests(990)]) },
  { name: 'pipelinedFlood', start: nothing, bytes: Buffer.from('GET / HTTP/1.1\r\n\r\n'.repeat(2_000)) },
] as const;

it.for(floods)(
  '500 connections with requests that nobody awaits end, and no other does: $name %#',
  async (flood, context) => {
    const { name, start, bytes } = flood;
    const server = await startAbusedSqlite();
    const connect = async () => (await open(server, '', ATTACKER)).resume();
    const sockets = await Promise.all(Array.from({ length: 500 }, connect));
    for (const socket of sockets) socket.write(start);
    await removal(server, OTHER);
    await sendTogether(server.pid, sockets, bytes);
    await askMeanwhile(Promise.all(sockets.map(ended)), () => removal(server, OTHER));
    await server.expectSound(context, name);
  },
);

it('idle connections of one client keep nobody else out', async (context) => {
  const server = await startAbusedSqlite({ KEEP_ALIVE_TIMEOUT: '10m' });
  const sockets = await Promise.all(
    Array.from({ length: 700 }, async (_, index) => {
      const socket = await open(server, index % 2 === 0 ? '' : 'GET / HTTP/1.1\r\nHost: a\r\n', ATTACKER);
      return socket.resume();
    }),
  );
  const isOpen = (socket: Socket) => !socket.readableEnded && !socket.closed;
  await expect.poll(() => sockets.filter(isOpen).length).toBeLessThanOrEqual(500);
  for (let victim = 1; victim <= 100; victim++) await removal(server, `127.0.1.${victim}`);
  await server.expectSound(context, 'idleConnections');
});
