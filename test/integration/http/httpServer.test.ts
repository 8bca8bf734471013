import { once } from 'node:events';
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { authHeaderMissing } from '../../../shared/errors/errors.ts';
import {
  httpExpectationFailed,
  httpHeadersTooLarge,
  httpMalformed,
  methodNotAllowed,
} from '../../../shared/errors/httpErrors.ts';
import { createApp, type Route } from '../../../shared/http/app.ts';
import { getOutgoing } from '../../../shared/http/exchange.ts';
import { readBody } from '../../../shared/http/requestBody.ts';
import { type RunningServer, serve, serverUrl } from '../../../shared/http/serve.ts';
import { createHttpServer } from '../../../shared/http/server.ts';
import { configureLog } from '../../../shared/log.ts';
import { errorInfo } from '../../support/http/errorInfo.ts';
import { ended, openConnection, readAnswer, sendUntilClosed } from '../../support/http/rawHttp.ts';

let gate: PromiseWithResolvers<void>;
let entered: PromiseWithResolvers<void>;
let serving: RunningServer;

const encoder = new TextEncoder();
const routes: Route[] = [
  {
    method: 'POST',
    path: '/refuse',
    handler: () => {
      throw authHeaderMissing();
    },
  },
  { method: 'POST', path: '/echo', handler: async (context) => context.text(await context.req.text()) },
  {
    method: 'POST',
    path: '/first',
    handler: async (context) => {
      for await (const chunk of readBody(context.req.raw, context.req.raw.signal))
        return context.body(Buffer.from(chunk));
      return context.body(null);
    },
  },
  { method: 'GET', path: '/hello', handler: (context) => context.json({ hello: 'world' }) },
  {
    method: 'GET',
    path: '/slow',
    handler: async (context) => {
      entered.resolve();
      await gate.promise;
      return context.json({ slow: true });
    },
  },
  { method: 'GET', path: '/stream', handler: () => new Response(twoHalves()) },
  {
    method: 'GET',
    path: '/breaks/early',
    handler: () =>
      new Response(
        new ReadableStream({
          pull: () => {
            throw new Error('hunter2');
          },
        }),
      ),
  },
  {
    method: 'GET',
    path: '/breaks/unread',
    handler: (context) => {
      getOutgoing(context)?.once('close', () => entered.resolve());
      return new Response(untilFault(new Error('hunter2')));
    },
  },
  { method: 'GET', path: '/breaks/late', handler: () => new Response(twoHalves(new Error('hunter2'))) },
];

/** A body without end, which fails at the gate whether it is read or not. */
function untilFault(fault: Error): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => void gate.promise.then(() => controller.error(fault)),
    pull: (controller) => controller.enqueue(new Uint8Array(1_000_000)),
  });
}

function twoHalves(fault?: Error): ReadableStream<Uint8Array> {
  let pulls = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        pulls += 1;
        if (pulls === 1) return controller.enqueue(encoder.encode('first'));
        entered.resolve();
        await gate.promise;
        if (fault !== undefined) throw fault;
        controller.enqueue(encoder.encode('second'));
        controller.close();
      },
      cancel: () => gate.resolve(),
    },
    { highWaterMark: 0 },
  );
}

beforeEach(async () => {
  configureLog('silent');
  gate = Promise.withResolvers();
  entered = Promise.withResolvers();
  serving = await serve({ app: createApp({ routes }), host: '127.0.0.1', port: 0 });
});

afterEach(async () => {
  gate.resolve();
  await serving.close();
});

async function exchange(text: string) {
  const socket = await openConnection(serving.url);
  socket.write(text);
  const answer = await readAnswer(socket);
  socket.destroy();
  return answer;
}

describe('what Node refuses by itself', () => {
  it.each([
    ['garbage', 'garbage\r\n\r\n', httpMalformed],
    ['an unknown method', 'FOO / HTTP/1.1\r\nHost: a\r\n\r\n', httpMalformed],
    ['a missing Host', 'GET /hello HTTP/1.1\r\n\r\n', httpMalformed],
    ['a Host that is none', 'GET /hello HTTP/1.1\r\nHost: a b\r\n\r\n', httpMalformed],
    ['a Host no URL can have', 'POST / HTTP/1.1\r\nHost: 1.2.3.256\r\nContent-Length: 1\r\n\r\n1', httpMalformed],
    ['a Host that begins with a dot', 'GET /hello HTTP/1.1\r\nHost: .1\r\n\r\n', httpMalformed],
    ['a target that is no path', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n', httpMalformed],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      httpMalformed,
    ],
    ['a malformed chunk', 'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', httpMalformed],
    ['large headers', `GET /hello HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, httpHeadersTooLarge],
    [
      'another expectation',
      'POST / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nContent-Length: 0\r\n\r\n',
      httpExpectationFailed,
    ],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', methodNotAllowed],
  ])('%s is answered with our error body', async (_name, text, error) => {
    const answer = await exchange(text);
    expect(answer.status).toBe(error().httpStatus);
    expect(JSON.parse(answer.body)).toEqual(error().toJson());
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('x-robots-tag')).toBe('none');
  });

  it('is no reason to reach for a connection that was reset', async () => {
    const socket = await openConnection(serving.url);
    socket.write('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc');
    socket.resetAndDestroy();
    expect((await fetch(`${serving.url}/hello`)).status).toBe(200);
  });
});

describe('a request that does not come', () => {
  it.each([
    ['nothing', ''],
    ['one letter', 'P'],
    ['half its headers', 'GET /hello HTTP/1.1\r\nHost: a\r\n'],
  ])('is answered 408 after %s', async (_name, start) => {
    const { server, drain } = createHttpServer(createApp({ routes }), { headersMs: 50 });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = await openConnection(serverUrl(server));
    socket.write(start);
    const { status, headers, body } = await readAnswer(socket);
    expect([status, headers.get('connection')]).toEqual([408, 'close']);
    expect(JSON.parse(body)).toEqual({
      code: 4,
      message: 'timeout while waiting for the request headers: retry the request',
      details: [errorInfo('HTTP_HEADERS_TIMEOUT')],
    });
    expect(await drain(0)).toBe(0);
    socket.destroy();
  });
});

describe('an answer', () => {
  it('that is whole has a length, and leaves the connection open', async () => {
    const socket = await openConnection(serving.url);
    for (let i = 0; i < 2; i += 1) {
      socket.write('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n');
      const { headers, body } = await readAnswer(socket);
      expect(body).toBe('{"hello":"world"}');
      expect(headers.get('content-length')).toBe('17');
      expect(headers.get('connection')).toBe('keep-alive');
    }
    socket.destroy();
  });

  it('that is still being made starts with what there is', async () => {
    const response = await fetch(`${serving.url}/stream`);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe('first');
    gate.resolve();
    expect((await reader?.read())?.value).toBe('second');
    expect((await reader?.read())?.done).toBe(true);
  });

  it('whose body fails before its first byte is an error answer without the reason', async () => {
    const response = await fetch(`${serving.url}/breaks/early`);
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({
      code: 13,
      message: 'An internal error occurred',
      details: [errorInfo('INTERNAL_ERROR')],
    });
  });

  it('whose body fails later is cut, so that it cannot be taken for whole', async () => {
    const response = await fetch(`${serving.url}/breaks/late`);
    gate.resolve();
    await expect(response.text()).rejects.toThrow('terminated');
  });

  it('whose body fails while the client does not read is cut at once', async () => {
    const call = request(`${serving.url}/breaks/unread`, { agent: false }).end();
    const [response] = await once(call, 'response');
    response.pause();
    gate.resolve();
    await entered.promise;
    response.on('error', () => undefined).resume();
    await new Promise((resolve) => response.on('close', resolve));
    expect(response.complete).toBe(false);
  });

  it('whose reader leaves stops being made', async () => {
    const controller = new AbortController();
    await fetch(`${serving.url}/stream`, { signal: controller.signal });
    await entered.promise;
    controller.abort();
    await gate.promise;
  });
});

describe('an answer to a body that nobody read', () => {
  const size = 20_000_000;

  it.each([
    ['POST /refuse', 401],
    ['POST /nowhere', 404],
    ['GET /hello', 200],
  ])(
    'is followed by the end of the connection at once, since the rest of the body may never come: %s',
    async (target, status) => {
      const patient = { lingerMs: 600_000, keepAliveMs: 600_000 };
      const other = await serve({ app: createApp({ routes }), host: '127.0.0.1', port: 0, limits: patient });
      const socket = await openConnection(other.url);
      socket.write(`${target} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc`);
      const answer = await readAnswer(socket);
      expect([answer.status, answer.headers.get('connection')]).toEqual([status, 'close']);
      await ended(socket);
      socket.destroy();
      expect(await other.close()).toBe(0);
    },
  );

  it('is not overtaken by a reset where the rest of the body is on its way', async () => {
    const socket = await openConnection(serving.url);
    let failure: unknown;
    socket.on('error', (error) => {
      failure = error;
    });
    socket.write('POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc');
    expect((await readAnswer(socket)).status).toBe(401);
    await ended(socket);
    socket.end('def');
    await once(socket, 'close');
    expect(failure).toBeUndefined();
  });

  it('reaches a client of the kind that stops sending', async () => {
    const response = await fetch(`${serving.url}/refuse`, { method: 'POST', body: Buffer.alloc(size) });
    expect(await response.json()).toEqual({ code: 16, message: 'auth header missing' });
  });

  it('spares a client that asks first the whole upload', async () => {
    const answer = await exchange(
      `POST /refuse HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${size}\r\n\r\n`,
    );
    expect(answer.status).toBe(401);
    expect(answer.headers.get('connection')).toBe('close');
  });

  it('asks for the body where it is wanted', async () => {
    const socket = await openConnection(serving.url);
    socket.write('POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n');
    expect((await readAnswer(socket)).status).toBe(100);
    socket.write('abc');
    expect(await readAnswer(socket)).toMatchObject({ status: 200, body: 'abc' });
    socket.destroy();
  });

  it('waits for the rest of one that the application has begun to read', async () => {
    const { server, drain } = createHttpServer(createApp({ routes }), { lingerMs: 1_500 });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = await openConnection(serverUrl(server));
    socket.write('POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nabc');
    expect((await readAnswer(socket)).body).toBe('abc');
    expect(await sendUntilClosed(socket)).toBeGreaterThan(1_400);
    socket.destroy();
    await drain(0);
  });

  it('does not close the connection over a small body', async () => {
    const answer = await exchange('POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc');
    expect(answer.headers.get('connection')).toBe('keep-alive');
  });
});

describe('a draining server', () => {
  it('finishes what runs, refuses what comes on open connections, and accepts no new ones', async () => {
    const [slow, idle] = [await openConnection(serving.url), await openConnection(serving.url)];
    idle.write('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n');
    await readAnswer(idle);
    slow.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
    await entered.promise;
    const closed = serving.close();

    idle.write('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n');
    const refused = await readAnswer(idle);
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.body)).toMatchObject({ code: 14 });
    expect(refused.headers.get('connection')).toBe('close');
    await expect(fetch(`${serving.url}/hello`)).rejects.toThrow('fetch failed');

    gate.resolve();
    const finished = await readAnswer(slow);
    expect(finished.body).toBe('{"slow":true}');
    expect(finished.headers.get('connection')).toBe('close');
    expect(await closed).toBe(0);
  });

  it('is not held by connections without a request', async () => {
    const socket = await openConnection(serving.url);
    expect(await serving.close()).toBe(0);
    socket.destroy();
  });

  it('cuts what still runs at its limit, and says how much that was', async () => {
    const hasty = await serve({ app: createApp({ routes }), host: '127.0.0.1', port: 0, drainMs: 20 });
    const answer = fetch(`${hasty.url}/slow`);
    await entered.promise;
    const [cut] = await Promise.all([hasty.close(), expect(answer).rejects.toThrow('fetch failed')]);
    expect(cut).toBe(1);
  });

  it('ends a long answer that had begun', async () => {
    const response = await fetch(`${serving.url}/stream`);
    await entered.promise;
    const closed = serving.close();
    gate.resolve();
    expect(await response.text()).toBe('firstsecond');
    expect(await closed).toBe(0);
  });
});

it('serve says where it listens, and refuses an address that is taken', async () => {
  expect(serving.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const port = Number(new URL(serving.url).port);
  await expect(serve({ app: createApp({ routes }), host: '127.0.0.1', port })).rejects.toThrow('EADDRINUSE');
});
