import { once } from 'node:events';
import { constants } from 'node:http2';
import { describe, expect, it } from 'vitest';
import { fixedContent } from '../../../shared/http/responses.ts';
import { fixedLimits } from '../../../shared/limits.ts';
import { errorInfo } from '../../support/http/errorInfo.ts';
import { gatedServer } from '../../support/http/gatedServer.ts';
import { openStream, readStream } from '../../support/http/http2.ts';
import { ask, ended } from '../../support/http/rawHttp.ts';

const LIMIT = 4;

const server = gatedServer(() => [
  { method: 'GET', path: '/shared', handler: fixedContent({}, () => 'x'.repeat(1_000_000)) },
  { method: 'GET', path: '/endless', handler: () => new Response(zeros()) },
]);

function zeros(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) });
}

/** Opens streams of a client that accepts no content; resolves when each has headers, or is rejected. */
async function openUnread(path: string, count: number) {
  const session = await server.openSession({ initialWindowSize: 0 });
  const streams = Array.from({ length: count }, () => openStream(session, { path }).end());
  const outcomes = streams.map(async (stream) => {
    const { promise, resolve } = Promise.withResolvers<number>();
    stream.on('error', () => undefined).once('response', (headers) => resolve(headers[':status'] ?? 0));
    stream.once('close', () => resolve(-(stream.rstCode ?? 0)));
    return promise;
  });
  return { session, statuses: await Promise.all(outcomes) };
}

const statusOf = async (target: string) => (await ask(server.url, `GET ${target}`)).status;
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

describe('a server at its limit of running requests', () => {
  it.each([
    ['below', LIMIT - 1, 200],
    ['at', LIMIT, 503],
  ])('responds to a request %s the limit: with %i others, %i', async (_name, others, status) => {
    await server.start({ connections: LIMIT }, others);
    const session = await server.openSession();
    const slow = Array.from({ length: others }, () => readStream(openStream(session, { path: '/slow' }).end()));
    await server.entered.promise;
    const answer = await ask(server.url, 'GET /hello');
    expect(answer.status).toBe(status);
    if (status === 503) {
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(JSON.parse(answer.body)).toEqual({
        code: 14,
        message: 'too many requests at once: retry the request',
        details: [errorInfo('TOO_MANY_REQUESTS')],
      });
    }
    server.gate.resolve();
    for (const { status } of await Promise.all(slow)) expect(status).toBe(200);
    expect(await statusOf('/hello')).toBe(200);
  });

  it.each(['/hello', '/shared'])(
    'does not count a complete response that its client does not read: %s',
    async (path) => {
      await server.start({ connections: LIMIT });
      expect((await openUnread(path, LIMIT)).statuses).toEqual(Array(LIMIT).fill(200));
      expect(await statusOf('/hello')).toBe(200);
    },
  );

  it('counts a response that is still being produced', async () => {
    await server.start({ connections: LIMIT });
    const { session } = await openUnread('/endless', LIMIT);
    expect(await statusOf('/hello')).toBe(503);
    session.destroy();
    await expect.poll(() => statusOf('/hello')).toBe(200);
  });
});

it('a request counts until its handler has ended, even if its client has reset it', async () => {
  await server.start({ connections: 2 }, 2);
  const session = await server.openSession();
  const streams = ['/slow', '/slow'].map((path) => openStream(session, { path }));
  const signal = await server.entered.promise;
  for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
  await once(signal, 'abort');
  expect(await statusOf('/hello')).toBe(503);
  server.gate.resolve();
  await expect.poll(() => statusOf('/hello')).toBe(200);
});

describe('a connection', () => {
  const { pipelinedRequests, streamsPerConnection } = fixedLimits;

  it('of HTTP/1 accepts requests before the earlier responses, up to a limit', async () => {
    await server.start({}, pipelinedRequests);
    const socket = await server.open(get('/slow').repeat(pipelinedRequests));
    await server.entered.promise;
    server.gate.resolve();
    let text = '';
    for await (const chunk of socket) {
      text += String(chunk);
      if (text.split('\r\n\r\n{"slow"').length > pipelinedRequests) break;
    }
    expect(text.match(/HTTP\/1.1 200/g)).toHaveLength(pipelinedRequests);
  });

  it(`of HTTP/1 is closed above ${pipelinedRequests} requests, and none of them starts`, async () => {
    await server.start();
    const socket = await server.open();
    socket.write(get('/slow').repeat(10 * pipelinedRequests));
    await ended(socket);
    expect(server.waiting).toBe(0);
  });

  it('of HTTP/1 that its client closes counts only its running requests', async () => {
    await server.start({ connections: LIMIT }, LIMIT);
    const socket = await server.open(get('/slow').repeat(LIMIT));
    await server.entered.promise;
    socket.destroy();
    expect(await statusOf('/hello')).toBe(503);
    server.gate.resolve();
    await expect.poll(() => statusOf('/hello')).toBe(200);
    expect(await server.serving?.close()).toBe(0);
  });

  it('of HTTP/1 ends without a response if CONNECT follows requests without a response', async () => {
    await server.start();
    const socket = await server.open(`${get('/slow').repeat(2)}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`);
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    await ended(socket);
    expect(text).toBe('');
  });

  it.each([streamsPerConnection, streamsPerConnection + 1])(
    `of HTTP/2 carries no more than ${streamsPerConnection} of %i streams at a time`,
    async (count) => {
      await server.start({}, streamsPerConnection);
      const session = await server.openSession();
      await once(session, 'remoteSettings');
      const answers = Array.from({ length: count }, () => readStream(openStream(session, { path: '/slow' })));
      await server.entered.promise;
      expect(session.remoteSettings.maxConcurrentStreams).toBe(streamsPerConnection);
      expect(server.waiting).toBe(streamsPerConnection);
      server.gate.resolve();
      for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
    },
  );
});
