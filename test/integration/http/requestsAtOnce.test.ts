import { once } from 'node:events';
import { constants } from 'node:http2';
import { describe, expect, it } from 'vitest';
import { fixedContent } from '../../../shared/http/responses.ts';
import { fixedLimits } from '../../../shared/limits.ts';
import { errorInfo } from '../../support/http/errorInfo.ts';
import { gatedServer } from '../../support/http/gatedServer.ts';
import { openStream, readStream } from '../../support/http/http2.ts';
import { END_HEADERS, END_STREAM, getBlock, goAway, http2Frame, preface } from '../../support/http/http2Frames.ts';
import { ask, ended, readAnswer } from '../../support/http/rawHttp.ts';

const LIMIT = 4;
const [one, other] = ['127.0.0.2', '127.0.0.3'] as const;

const server = gatedServer(() => [
  { method: 'GET', path: '/shared', handler: fixedContent({}, () => 'x'.repeat(1_000_000)) },
  { method: 'GET', path: '/endless', handler: () => new Response(zeros()) },
]);

function zeros(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) });
}

/** Opens streams of a client that takes no content; resolves when each has headers, or is refused. */
async function openUnread(path: string, count: number, localAddress: string) {
  const session = await server.openSession({ initialWindowSize: 0 }, localAddress);
  const streams = Array.from({ length: count }, () => openStream(session, { path }).end());
  const outcomes = streams.map(async (stream) => {
    const { promise, resolve } = Promise.withResolvers<number>();
    stream.on('error', () => undefined).once('response', (headers) => resolve(headers[':status'] ?? 0));
    stream.once('close', () => resolve(-(stream.rstCode ?? 0)));
    return promise;
  });
  return { session, statuses: await Promise.all(outcomes) };
}

const statusOf = async (target: string, from?: string, headers = {}) =>
  (await ask(server.url, `GET ${target}`, headers, from)).status;
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

describe('a server at its limit of requests that are handled', () => {
  it.each([
    ['below', LIMIT - 1, 200],
    ['at', LIMIT, 503],
  ])('answers one %s it: with %i others, %i', async (_name, others, status) => {
    await server.start({ connections: LIMIT, perClient: LIMIT, trustedProxies: 1 }, others);
    const session = await server.openSession();
    const forwarded = (index: number) => ({ 'x-forwarded-for': `192.0.2.${index}` });
    const slow = Array.from({ length: others }, (_, index) =>
      readStream(openStream(session, { path: '/slow', headers: forwarded(index) }).end()),
    );
    await server.entered.promise;
    const answer = await ask(server.url, 'GET /hello', forwarded(99));
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
    'does not count a complete response that its client does not take: %s',
    async (path) => {
      await server.start({ connections: LIMIT, perClient: LIMIT });
      expect((await openUnread(path, LIMIT, one)).statuses).toEqual(Array(LIMIT).fill(200));
      expect(await statusOf('/hello', other)).toBe(200);
    },
  );

  it('counts a response that is still being made', async () => {
    await server.start({ connections: LIMIT, perClient: LIMIT });
    const { session } = await openUnread('/endless', LIMIT, one);
    expect(await statusOf('/hello', other)).toBe(503);
    session.destroy();
    await expect.poll(() => statusOf('/hello', other)).toBe(200);
  });
});

describe('one client', () => {
  it('has no more requests than its own limit: further streams are refused, and others are served', async () => {
    await server.start({ connections: 4 * LIMIT, perClient: LIMIT });
    const refused = -constants.NGHTTP2_REFUSED_STREAM;
    const { session, statuses } = await openUnread('/hello', LIMIT + 2, one);
    expect(statuses).toEqual([...Array(LIMIT).fill(200), refused, refused]);
    expect(await statusOf('/hello', one)).toBe(503);
    expect(await statusOf('/hello', other)).toBe(200);
    session.destroy();
    await expect.poll(() => statusOf('/hello', one)).toBe(200);
  });

  it('gets no connection while it has as many requests, and loses those that ask for more', async () => {
    await server.start({ connections: 8 * LIMIT, perClient: LIMIT });
    const silent = await server.open('', one);
    const idle = await server.openSession({}, one);
    const { session } = await openUnread('/hello', LIMIT, one);
    const goodbye = once(silent, 'data');
    silent.write(preface);
    const [frames] = await goodbye;
    expect(frames).toEqual(Buffer.concat([http2Frame('settings'), goAway(0, constants.NGHTTP2_ENHANCE_YOUR_CALM)]));
    await ended(silent);
    const left = once(idle, 'close');
    idle.on('error', () => undefined);
    openStream(idle, { path: '/hello' }).on('error', () => undefined);
    await left;
    const rejected = await server.open('', one);
    expect((await readAnswer(rejected)).status).toBe(503);
    expect(await statusOf('/hello', other)).toBe(200);
    session.destroy();
    await expect.poll(() => statusOf('/hello', one)).toBe(200);
  });

  it('that is a proxy keeps its connections when one of its clients has too many requests', async () => {
    await server.start({ connections: 100, perClient: 1, trustedProxies: 1 });
    const session = await server.openSession({}, one);
    const get = (path: string, address: string) => {
      const headers = { 'x-forwarded-for': address };
      return readStream(openStream(session, { path, headers }).end());
    };
    const slow = get('/slow', '192.0.2.1');
    await server.entered.promise;
    expect((await get('/hello', '192.0.2.1')).resetCode).toBe(constants.NGHTTP2_REFUSED_STREAM);
    expect((await get('/hello', '192.0.2.2')).status).toBe(200);
    server.gate.resolve();
    expect((await slow).status).toBe(200);
  });

  it('is known by the forwarded address behind a proxy, and by the last one only', async () => {
    await server.start({ connections: 100, perClient: 2, trustedProxies: 1 }, 2);
    const from = (forwarded: string) => ({ 'x-forwarded-for': forwarded });
    const ipv6 = ['2001:db8:0:1::5', '2001:db8:0:1:ffff::'];
    const slow = ipv6.map((address) => statusOf('/slow', one, from(address)));
    await server.entered.promise;
    const statuses = ['192.0.2.1, 2001:db8:0:1::6', '2001:db8:0:2::5', '192.0.2.1', '2001:db8:0:1::5, 192.0.2.1'];
    const answers = await Promise.all(statuses.map((address) => statusOf('/hello', one, from(address))));
    expect(answers).toEqual([503, 200, 200, 200]);
    server.gate.resolve();
    expect(await Promise.all(slow)).toEqual([200, 200]);
  });

  it('cannot be another by a header where no proxy is trusted', async () => {
    await server.start({ connections: 100, perClient: 1 }, 1);
    const session = await server.openSession({}, one);
    const slow = readStream(openStream(session, { path: '/slow' }).end());
    await server.entered.promise;
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    const { resetCode } = await readStream(openStream(session, { path: '/hello', headers }).end());
    expect(resetCode).toBe(constants.NGHTTP2_REFUSED_STREAM);
    server.gate.resolve();
    expect((await slow).status).toBe(200);
  });
});

it('a request counts until its handler has ended, although its client has reset it', async () => {
  await server.start({ perClient: 2 }, 2);
  const session = await server.openSession({}, one);
  const streams = ['/slow', '/slow'].map((path) => openStream(session, { path }));
  const signal = await server.entered.promise;
  for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
  await once(signal, 'abort');
  expect(await statusOf('/hello', one)).toBe(503);
  server.gate.resolve();
  await expect.poll(() => statusOf('/hello', one)).toBe(200);
});

describe('a connection', () => {
  const { pipelinedRequests, streamsPerConnection } = fixedLimits;

  it('of HTTP/1 may carry as many requests whose responses are not awaited, which are handled one by one', async () => {
    await server.start();
    const socket = await server.open();
    socket.write(get('/slow').repeat(pipelinedRequests));
    await server.entered.promise;
    await statusOf('/hello', other);
    expect(server.waiting).toBe(1);
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

  it('of HTTP/1 that ends leaves its client all of its requests but the one that is handled', async () => {
    await server.start({ perClient: LIMIT });
    for (const requests of [LIMIT, LIMIT - 1, LIMIT - 2]) {
      const socket = await server.open(get('/slow').repeat(requests), one);
      await expect.poll(() => statusOf('/hello', one).catch(() => 503)).toBe(503);
      socket.destroy();
      await expect.poll(() => statusOf('/hello', one).catch(() => 503)).toBe(200);
    }
    expect(server.waiting).toBe(3);
  });

  it('of HTTP/1 is closed where it carries more requests than its client may have', async () => {
    await server.start({ perClient: LIMIT }, 1);
    const socket = await server.open();
    socket.write(get('/slow').repeat(2 * LIMIT));
    await ended(socket);
    expect(server.waiting).toBe(0);
  });

  it('of HTTP/1 ends without a response where CONNECT follows requests that have none', async () => {
    await server.start();
    const socket = await server.open(`${get('/slow').repeat(2)}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`);
    let text = '';
    socket.on('data', (chunk) => {
      text += String(chunk);
    });
    await ended(socket);
    expect(text).toBe('');
  });

  it('of HTTP/1 that is refused gets one response, whatever it carries', async () => {
    await server.start({ perClient: 1, trustedProxies: 1 });
    const client = 'X-Forwarded-For: 192.0.2.1\r\n';
    const busy = await server.open(`GET /slow HTTP/1.1\r\nHost: a\r\n${client}\r\n`);
    await server.entered.promise;
    const refused = await server.open(`GET /hello HTTP/1.1\r\nHost: a\r\n${client}\r\n`.repeat(1_000));
    let text = '';
    refused.on('data', (chunk) => {
      text += String(chunk);
    });
    await ended(refused);
    expect(text.match(/HTTP\/1.1 /g)?.length ?? 0).toBeLessThanOrEqual(1);
    busy.destroy();
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

  it('of HTTP/2 is closed where it has as many requests again that the client has reset', async () => {
    await server.start();
    const socket = (await server.open()).resume();
    const ids = (round: number) =>
      Array.from({ length: streamsPerConnection }, (_, index) => 2 * (round * streamsPerConnection + index) + 1);
    const [flags, payload, cancel] = [END_STREAM | END_HEADERS, getBlock('/slow'), Buffer.of(0, 0, 0, 8)];
    const requests = (round: number) => ids(round).map((stream) => http2Frame('headers', { flags, stream, payload }));
    const resets = (round: number) =>
      ids(round).map((stream) => http2Frame('resetStream', { stream, payload: cancel }));
    socket.write(Buffer.concat([preface, http2Frame('settings'), ...requests(0)]));
    await expect.poll(() => server.waiting).toBe(streamsPerConnection);
    socket.write(Buffer.concat([...resets(0), ...requests(1)]));
    await expect.poll(() => server.waiting).toBe(2 * streamsPerConnection);
    socket.write(Buffer.concat([...resets(1), ...requests(2)]));
    await ended(socket);
    expect(server.waiting).toBe(2 * streamsPerConnection);
  });
});

it('a caller who is refused although a body is coming gets the response, and then a closed connection', async () => {
  await server.start({ perClient: 1, trustedProxies: 1, lingerMs: 600_000 }, 1);
  const client = 'X-Forwarded-For: 192.0.2.1\r\n';
  const [busy, refused] = [await server.open(), await server.open()];
  busy.write(`GET /slow HTTP/1.1\r\nHost: a\r\n${client}\r\n`);
  await server.entered.promise;
  refused.write(`POST /hello HTTP/1.1\r\nHost: a\r\n${client}Content-Length: 9\r\n\r\n{`);
  expect((await readAnswer(refused)).status).toBe(503);
  await ended(refused);
});
