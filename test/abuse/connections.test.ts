import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { fixedLimits } from '../../shared/limits.ts';
import { connectHttp2, openStream } from '../support/http/http2.ts';
import { http2Frame, preface, resetRequests } from '../support/http/http2Frames.ts';
import { ask, ended, openConnection } from '../support/http/rawHttp.ts';
import { type AbusedServer, startAbusedSqlite } from './support/abusedServer.ts';

/** A removal for an unknown user, which reads the database. */
async function removal({ url, token }: AbusedServer): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  expect((await ask(url, 'DELETE /v2/users/1/otp_email', headers)).status).toBe(404);
}

async function open({ url }: AbusedServer, text: string): Promise<Socket> {
  const socket = await openConnection(url);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined).write(text);
  return socket;
}

it('ten connections with 13,000 requests and unread responses leave the server running', async () => {
  const server = await startAbusedSqlite();
  const request = 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n';
  const sockets = await Promise.all(Array.from({ length: 10 }, () => open(server, request.repeat(1_300))));
  for (let answered = 0; answered < 20; answered++) await removal(server);
  await Promise.all(sockets.map(ended));
  await server.expectSound();
});

/** Opens streams whose client accepts no content; resolves when each has headers, or is rejected. */
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

it('1,600 streams with unread responses leave the server running', async () => {
  const server = await startAbusedSqlite();
  const connect = async () => {
    const session = await connectHttp2(server.url, { initialWindowSize: 0 });
    onTestFinished(() => session.destroy());
    return session.on('error', () => undefined);
  };
  const sessions = await Promise.all(Array.from({ length: 16 }, connect));
  const opened = await Promise.all(sessions.map(openUnread));
  expect(opened.flat().filter(({ destroyed }) => !destroyed)).toHaveLength(1_600);
  for (let answered = 0; answered < 20; answered++) await removal(server);
  await server.expectSound();
});

/** Has the server read what clients send on several connections at once, as if they were faster than it on any machine. */
async function sendTogether(pid: number, sockets: readonly Socket[], bytes: Uint8Array): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  try {
    for (const socket of sockets) socket.write(bytes);
    // The system accepts as much as its buffers hold.
    await setTimeout(1_000);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

const opening = Buffer.concat([preface, http2Frame('settings')]);
const nothing = Buffer.alloc(0);

/** The bytes that each of 500 connections sends, and those that all of them send together afterwards. */
const floods = [
  { name: 'resetStreams', start: opening, bytes: resetRequests(990) },
  { name: 'resetStreams', start: nothing, bytes: Buffer.concat([opening, resetRequests(990)]) },
  { name: 'pipelinedFlood', start: nothing, bytes: Buffer.from('GET / HTTP/1.1\r\n\r\n'.repeat(2_000)) },
] as const;

it.for(floods)(
  'requests over 500 connections leave the server running if their client does not wait for responses: $name %#',
  async (flood) => {
    const { start, bytes } = flood;
    const server = await startAbusedSqlite();
    const connect = async () => (await open(server, '')).resume();
    const sockets = await Promise.all(Array.from({ length: 500 }, connect));
    for (const socket of sockets) socket.write(start);
    await removal(server);
    await sendTogether(server.pid, sockets, bytes);
    for (let answered = 0; answered < 20; answered++) await removal(server);
    for (const socket of sockets) socket.destroy();
    await server.expectSound();
  },
);
