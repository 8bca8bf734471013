import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { frame } from '../support/http/grpcFrames.ts';
import { connectHttp2, openStream, readStream } from '../support/http/http2.ts';
import { openConnection, readAnswer } from '../support/http/rawHttp.ts';
import { type AbusedServer, startAbusedSqlite } from './support/abusedServer.ts';
import { askMeanwhile } from './support/meanwhile.ts';

const RPC = '/zitadel.user.v2.UserService/RemoveOTPEmail';
const CALLS = 100;

/** A removal of a factor of nobody, which reads the database. */
async function removal({ url, token }: AbusedServer): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  expect((await fetch(`${url}/v2/users/1/otp_email`, { method: 'DELETE', headers })).status).toBe(404);
}

async function open({ url }: AbusedServer, text: string): Promise<Socket> {
  const socket = await openConnection(url);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined).write(text);
  return socket;
}

/** Resolves when the server has ended a connection. */
async function ended(socket: Socket): Promise<void> {
  if (!socket.readableEnded) await Promise.race([once(socket.resume(), 'end'), once(socket, 'close')]);
}

const post = (path: string, headers = '') =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\n${headers}Content-Length: 100\r\n\r\n`;

it('bodies that never end keep nobody else out, and are closed in time', async (context) => {
  const server = await startAbusedSqlite();
  const times = Array.from({ length: CALLS });
  const strangers = times.map(async (_, index) => {
    const socket = await open(server, `${post(index % 2 === 0 ? '/admin/v1/import' : '/admin/v1/export')}{`);
    expect((await readAnswer(socket)).status).toBe(401);
    const begin = performance.now();
    await ended(socket);
    return performance.now() - begin;
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
  const { result, answered } = await askMeanwhile(work, () => removal(server));
  // Two seconds by its own clock; the rest is for a machine that does much else.
  expect(Math.max(...result[0])).toBeLessThan(8_000);
  expect(answered).toBeGreaterThan(10);
  await server.expectSound(context, 'heldBodies');
});

it('ten connections with 13,000 requests, whose responses nobody reads, keep nobody else out', async (context) => {
  const server = await startAbusedSqlite();
  const request = 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n';
  const sockets = await Promise.all(Array.from({ length: 10 }, () => open(server, request.repeat(1_300))));
  for (let answered = 0; answered < 20; answered++) await removal(server);
  await Promise.all(sockets.map(ended));
  await server.expectSound(context, 'pipelined');
});
