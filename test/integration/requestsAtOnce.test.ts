import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createApp, type Route } from '../../shared/http/app.ts';
import { type RunningServer, serve } from '../../shared/http/serve.ts';
import { fixedLimits } from '../../shared/limits.ts';
import { configureLog } from '../../shared/log.ts';
import { connectHttp2, openStream, readStream } from '../support/http/http2.ts';
import { openConnection, readAnswer } from '../support/http/rawHttp.ts';

const LIMIT = 4;
let gate: PromiseWithResolvers<void>;
/** Resolves when this many requests wait at the gate. */
let entered: { readonly count: number; readonly reached: PromiseWithResolvers<void> };
let waiting = 0;
let serving: RunningServer;

const routes: Route[] = [
  { method: 'GET', path: '/hello', handler: (context) => context.text('hello') },
  {
    method: 'GET',
    path: '/slow',
    handler: async (context) => {
      waiting++;
      if (waiting === entered.count) entered.reached.resolve();
      await gate.promise;
      return context.text('slow');
    },
  },
];

beforeEach(() => {
  configureLog('silent');
  gate = Promise.withResolvers();
  waiting = 0;
});

afterEach(async () => {
  gate.resolve();
  await serving.close();
});

async function start(limits: { readonly requests?: number }, count: number): Promise<Socket> {
  entered = { count, reached: Promise.withResolvers() };
  serving = await serve({ app: createApp({ routes }), host: '127.0.0.1', port: 0, limits });
  return openConnection(serving.url);
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

describe('a server at its limit of requests at once', () => {
  it.each([
    ['below', LIMIT - 2, 200],
    ['at', LIMIT - 1, 200],
    ['above', LIMIT, 503],
  ])('answers one %s it: with %i others in flight, %i', async (_name, others, status) => {
    const socket = await start({ requests: LIMIT }, others);
    const slow = Array.from({ length: others }, () => fetch(`${serving.url}/slow`));
    await entered.reached.promise;
    socket.write(get('/hello'));
    const answer = await readAnswer(socket);
    socket.destroy();
    expect(answer.status).toBe(status);
    if (status === 503) {
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(JSON.parse(answer.body)).toEqual({ code: 14, message: 'too many requests at once: retry the request' });
    }
    gate.resolve();
    for (const response of await Promise.all(slow)) expect(response.status).toBe(200);
    expect((await fetch(`${serving.url}/hello`)).status).toBe(200);
  });
});

describe('a connection', () => {
  const limit = fixedLimits.requestsPerConnection;

  it.each([limit - 1, limit])('of HTTP/1 may carry %i requests whose responses are not awaited', async (count) => {
    const socket = await start({}, count);
    socket.write(get('/slow').repeat(count));
    await entered.reached.promise;
    gate.resolve();
    let text = '';
    for await (const chunk of socket) {
      text += String(chunk);
      if (text.split('\r\n\r\nslow').length > count) break;
    }
    expect(text.match(/HTTP\/1.1 200/g)).toHaveLength(count);
  });

  it(`of HTTP/1 is closed above ${limit} requests, and nobody works on the others`, async () => {
    const socket = await start({}, limit);
    socket.on('error', () => undefined).resume();
    socket.once('end', () => socket.destroy());
    const closed = once(socket, 'close');
    socket.write(get('/slow').repeat(10 * limit));
    await closed;
    expect(waiting).toBe(limit);
  });

  it.each([limit, limit + 1])(`of HTTP/2 carries no more than ${limit} of %i streams at a time`, async (count) => {
    (await start({}, limit)).destroy();
    const session = await connectHttp2(serving.url);
    await once(session, 'remoteSettings');
    const answers = Array.from({ length: count }, () => readStream(openStream(session, { path: '/slow' })));
    await entered.reached.promise;
    expect(session.remoteSettings.maxConcurrentStreams).toBe(limit);
    expect(waiting).toBe(limit);
    gate.resolve();
    for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
    session.destroy();
  });
});
