import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { callServer } from '../../../cli/http/httpClient.ts';
import {
  httpExpectationFailed,
  httpHeadersTooLarge,
  httpMalformed,
  httpProxyProtocol,
  httpTls,
  methodNotAllowed,
} from '../../../shared/errors/httpErrors.ts';
import { getOutgoing } from '../../../shared/http/nodeResponse.ts';
import { readBody } from '../../../shared/http/requestBody.ts';
import { serverUrl } from '../../../shared/http/server.ts';
import { fixedLimits } from '../../../shared/limits.ts';
import { configureLog, log } from '../../../shared/log.ts';
import { errorInfo } from '../../support/http/errorInfo.ts';
import { gatedServer } from '../../support/http/gatedServer.ts';
import { requestHttp2 } from '../../support/http/http2.ts';
import { ended, openConnection, readAnswer } from '../../support/http/rawHttp.ts';

const encoder = new TextEncoder();
/** More than the buffers of a connection. */
const LARGE = 50_000_000;
const server = gatedServer((server) => [
  {
    method: 'POST',
    path: '/first',
    handler: async (context) => {
      for await (const chunk of readBody(context.req.raw, context.req.raw.signal))
        return context.body(Buffer.from(chunk));
      return context.body(null);
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
      getOutgoing(context)?.once('close', () => server().entered.resolve(context.req.raw.signal));
      return new Response(untilFault(new Error('hunter2')));
    },
  },
  {
    method: 'GET',
    path: '/large',
    handler: (context) => {
      getOutgoing(context)?.once('close', () => server().entered.resolve(context.req.raw.signal));
      return new Response(Buffer.alloc(LARGE));
    },
  },
  { method: 'GET', path: '/breaks/late', handler: () => new Response(twoHalves(new Error('hunter2'))) },
]);

beforeEach(async () => void (await server.start()));

/** A body without end, which fails at the gate whether it is read or not. */
function untilFault(fault: Error): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => void server.gate.promise.then(() => controller.error(fault)),
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
        await server.pass(new AbortController().signal);
        if (fault !== undefined) throw fault;
        controller.enqueue(encoder.encode('second'));
        controller.close();
      },
      cancel: () => server.gate.resolve(),
    },
    { highWaterMark: 0 },
  );
}

async function exchange(text: string) {
  const socket = await openConnection(server.url);
  socket.write(text);
  const answer = await readAnswer(socket);
  socket.destroy();
  return answer;
}

describe('a malformed request to the server', () => {
  it.each([
    ['garbage', 'garbage', httpMalformed],
    ['another expectation', 'POST / HTTP/1.1|Host: a|Expect: tea|Content-Length: 0', httpExpectationFailed],
    ['two hosts', 'GET /hello HTTP/1.1|Host: a|host: b', httpMalformed],
    ['chunks in 1.0', 'POST / HTTP/1.0|Host: a|Connection: keep-alive|Transfer-Encoding: chunked||0', httpMalformed],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1|Host: a', methodNotAllowed],
    ['the PROXY protocol', 'PROXY TCP4 10.0.0.1 10.0.0.2 5000 80|GET /hello HTTP/1.1|Host: a', httpProxyProtocol],
    ['its binary form', '||\0|QUIT\n\x21\x11\0\x0c0123456789abGET /hello HTTP/1.1|Host: a', httpProxyProtocol],
    ['TLS', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03', httpTls],
  ])("gets this service's error body: %s", async (_name, lines, error) => {
    const answer = await exchange(`${lines.replaceAll('|', '\r\n')}\r\n\r\n`);
    expect(answer.status).toBe(error().httpStatus);
    expect(JSON.parse(answer.body)).toEqual(error().toJson());
    expect(Object.fromEntries(answer.headers)).toEqual({
      'cache-control': 'no-store',
      connection: 'close',
      'content-length': String(answer.body.length),
      'content-type': 'application/json',
      date: expect.any(String),
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
      'x-robots-tag': 'none',
    });
  });

  it('in another protocol is logged once', async () => {
    configureLog('warn');
    const warn = vi.spyOn(log, 'warn').mockImplementation(() => undefined);
    for (let calls = 0; calls < 2; calls++) await exchange('PROXY TCP4 10.0.0.1 10.0.0.2 5000 80\r\n\r\n');
    expect(warn.mock.calls).toEqual([[{ address: expect.stringContaining('127.0.0.1') }, httpProxyProtocol().message]]);
  });

  it('does not stop the server if its connection was reset', async () => {
    const socket = await openConnection(server.url);
    socket.write('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc');
    socket.resetAndDestroy();
    expect((await fetch(`${server.url}/hello`)).status).toBe(200);
  });
});

const { headerBytes } = fixedLimits;
const tooLarge = httpHeadersTooLarge().toJson();
const sizes = [
  [headerBytes - 1, 200],
  [headerBytes, 200],
  [headerBytes + 1, 431],
] as const;

describe('headers', () => {
  it.each(sizes)('of %i bytes over HTTP/1.1 get status %i', async (bytes, expected) => {
    const filler = 'x'.repeat(bytes - '/hello'.length - 'Host'.length - 'a'.length - 'X'.length);
    const socket = await openConnection(server.url);
    socket.write(`GET /hello HTTP/1.1\r\nHost: a\r\nX: ${filler}\r\n\r\n`);
    const { status, body } = await readAnswer(socket);
    socket.destroy();
    expect(status).toBe(expected);
    if (expected === 431) expect(JSON.parse(body)).toEqual(tooLarge);
  });

  it.each(sizes)('of %i bytes over HTTP/2 get status %i', async (bytes, expected) => {
    const pseudo = { ':method': 'GET', ':path': '/hello', ':scheme': 'http', ':authority': 'a' };
    const usual = Object.entries(pseudo).flat().join('').length;
    const headers = { ':authority': 'a', x: 'x'.repeat(bytes - usual - 'x'.length) };
    const { status, body } = await requestHttp2(server.url, { path: '/hello', headers });
    expect(status).toBe(expected);
    if (expected === 431) expect(JSON.parse(body)).toEqual(tooLarge);
  });
});

describe('a path with dot segments', () => {
  const targets = ['/a/../hello', '/./hello', '/%2e%2e/hello', '/a/.%2E/hello', '/hello/..', '/..?x'];
  const absolute = ['http://a/a/../hello', 'http://a/%2e/hello'];

  it.each([...targets, ...absolute])('is rejected, and not resolved: %s', async (target) => {
    const socket = await server.open(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const { status, body } = await readAnswer(socket);
    expect({ status, details: JSON.parse(body).details }).toEqual({
      status: 400,
      details: [errorInfo('PATH_WITH_DOTS')],
    });
  });

  it.each([...targets, '/a\\..\\hello'])('is rejected over HTTP/2: %s', async (path) => {
    expect((await requestHttp2(server.url, { path })).status).toBe(400);
  });

  it.each(['/hello?a=../b', '/hello?/../'])('is accepted in the query: %s', async (target) => {
    const socket = await server.open(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect((await readAnswer(socket)).status).toBe(200);
  });

  it.each(['/...', '/.a', '/a.', '/%2ea'])('is distinguished from a similar path: %s', async (target) => {
    const socket = await server.open(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect((await readAnswer(socket)).status).toBe(404);
  });
});

describe('an incomplete request', () => {
  it.each([
    ['nothing', ''],
    ['a single letter', 'P'],
    ['half its headers', 'GET /hello HTTP/1.1\r\nHost: a\r\n'],
  ])('is answered 408 after %s', async (_name, start) => {
    const hasty = await server.another({ headersMs: 50 });
    const socket = await openConnection(hasty.url);
    socket.write(start);
    const { status, headers, body } = await readAnswer(socket);
    expect([status, headers.get('connection')]).toEqual([408, 'close']);
    expect(JSON.parse(body)).toEqual({
      code: 4,
      message: 'timeout while waiting for the request headers: retry the request',
      details: [errorInfo('HTTP_HEADERS_TIMEOUT')],
    });
    expect(await hasty.close()).toBe(0);
    socket.destroy();
  });
});

describe('a response', () => {
  it('that is complete has a length, and leaves the connection open', async () => {
    const socket = await openConnection(server.url);
    for (let i = 0; i < 2; i += 1) {
      socket.write('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n');
      const { headers, body } = await readAnswer(socket);
      expect(body).toBe('{"hello":"world"}');
      expect(headers.get('content-length')).toBe('17');
      expect(headers.get('connection')).toBe('keep-alive');
    }
    socket.destroy();
  });

  it('to HEAD has the headers of GET without a length, and leaves the connection open', async () => {
    const socket = await openConnection(server.url);
    socket.write('HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const [first = '', second = '', body] = (await text(socket)).split('\r\n\r\n');
    expect(first).toMatch(/^HTTP\/1.1 200 /);
    expect(first.toLowerCase()).toContain('content-type: application/json');
    expect(first.toLowerCase()).not.toMatch(/content-length|transfer-encoding/);
    expect([second.slice(0, 13), body]).toEqual(['HTTP/1.1 200 ', '{"hello":"world"}']);
  });

  it('that is still being produced starts with the available bytes', async () => {
    const response = await fetch(`${server.url}/stream`);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe('first');
    server.gate.resolve();
    expect((await reader?.read())?.value).toBe('second');
    expect((await reader?.read())?.done).toBe(true);
  });

  it('whose body fails before its first byte is an error response without the reason', async () => {
    const response = await fetch(`${server.url}/breaks/early`);
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({
      code: 13,
      message: 'An internal error occurred',
      details: [errorInfo('INTERNAL_ERROR')],
    });
  });

  it('whose body fails later is logged and cut, so that it is not mistaken for complete', async () => {
    configureLog('silent', process.stdout, 'acme-identity');
    using logged = vi.spyOn(log, 'error');
    const trace = '0af7651916cd43dd8448eb211c80319c';
    const headers = { 'x-request-id': 'r1', 'x-cloud-trace-context': trace };
    const response = await fetch(`${server.url}/breaks/late`, { headers });
    server.gate.resolve();
    await expect(response.text()).rejects.toThrow('terminated');
    const fields = {
      stack_trace: expect.any(Error),
      'logging.googleapis.com/labels': { execution_id: 'r1' },
      'logging.googleapis.com/trace': `projects/acme-identity/traces/${trace}`,
    };
    expect(logged).toHaveBeenCalledExactlyOnceWith(fields, 'response aborted');
  });

  it('whose body fails while the client does not read is cut at once', async () => {
    const call = request(`${server.url}/breaks/unread`, { agent: false }).end();
    const [response] = await once(call, 'response');
    response.pause();
    server.gate.resolve();
    await server.entered.promise;
    response.on('error', () => undefined).resume();
    await new Promise((resolve) => response.on('close', resolve));
    expect(response.complete).toBe(false);
  });

  it('whose client stops reading is cut', async () => {
    const hasty = await server.another({ stallMs: 50 });
    const socket = await openConnection(hasty.url);
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined).write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'readable');
    await server.entered.promise;
    let received = 0;
    socket.on('data', (chunk: Buffer) => {
      received += chunk.byteLength;
    });
    await ended(socket);
    expect(received).toBeLessThan(LARGE);
    await hasty.close();
  });

  it('whose reader disconnects stops being produced', async () => {
    const controller = new AbortController();
    await fetch(`${server.url}/stream`, { signal: controller.signal });
    await server.entered.promise;
    controller.abort();
    await server.gate.promise;
  });
});

describe('the upload of a request body', () => {
  const size = 20_000_000;

  it.each([
    ['POST /refuse', 401],
    ['POST /nowhere', 404],
    ['GET /hello', 200],
  ])(
    'ends with a response before the rest arrives, after which the connection serves again: %s',
    async (target, status) => {
      const socket = await openConnection(server.url);
      socket.write(`${target} HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc`);
      expect((await readAnswer(socket)).status).toBe(status);
      socket.write(`${'x'.repeat(99_997)}GET /hello HTTP/1.1\r\nHost: a\r\n\r\n`);
      expect((await readAnswer(socket)).status).toBe(200);
      socket.destroy();
    },
  );

  it('ends with a response for a client that stops sending', async () => {
    const response = await fetch(`${server.url}/refuse`, { method: 'POST', body: Buffer.alloc(size) });
    expect(await response.json()).toEqual({ code: 16, message: 'auth header missing' });
  });

  it('does not start if the client sends Expect: 100-continue and is rejected', async () => {
    const answer = await exchange(
      `POST /refuse HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ${size}\r\n\r\n`,
    );
    expect(answer.status).toBe(401);
    expect(answer.headers.get('connection')).toBe('close');
  });

  it.each([
    ['/refuse', 401, 0],
    ['/echo', 200, 1],
  ])('of the command does not start for a rejected request: %s', async (path, status, read) => {
    const body = vi.fn(async function* () {
      yield Buffer.from('abc');
    });
    const call = { method: 'POST', path, asksFirst: true, body: { [Symbol.asyncIterator]: body } } as const;
    await using response = await callServer(server.url, call, new AbortController().signal);
    expect([response.status, body.mock.calls.length]).toEqual([status, read]);
  });

  it('of the command reaches a server without support for 100-continue', async () => {
    const other = createServer().on('checkContinue', (incoming, outgoing) => incoming.pipe(outgoing));
    const listening = once(other.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void other.close());
    await listening;
    const call = { method: 'POST', path: '/', asksFirst: true, body: [Buffer.from('abc')] } as const;
    await using response = await callServer(serverUrl(other), call, new AbortController().signal);
    expect(await text(response.body)).toBe('abc');
  });

  it('of the command fails with an error about a lost server if the connection breaks', async () => {
    const breaking = createServer().on('request', (incoming) => incoming.once('data', () => incoming.destroy()));
    const listening = once(breaking.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void breaking.close());
    await listening;
    // It ends only when its reader stops.
    async function* body() {
      for (;;) yield Buffer.alloc(65_536);
    }
    const call = { method: 'POST', path: '/', body: body() } as const;
    const called = callServer(serverUrl(breaking), call, new AbortController().signal);
    await expect(called).rejects.toThrow(
      `${serverUrl(breaking)} failed: the connection was lost before the response to POST / (E`,
    );
  });

  it('starts after a status 100 if the body is read', async () => {
    const socket = await openConnection(server.url);
    socket.write('POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n');
    expect((await readAnswer(socket)).status).toBe(100);
    socket.write('abc');
    expect(await readAnswer(socket)).toMatchObject({ status: 200, body: 'abc' });
    socket.destroy();
  });

  it('does not close the connection if the body is small', async () => {
    const answer = await exchange('POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc');
    expect(answer.headers.get('connection')).toBe('keep-alive');
  });
});

describe('a call of the command', () => {
  it('ends at once if its signal has already aborted', async () => {
    const call = { method: 'POST', path: '/echo', body: [Buffer.from('abc')] } as const;
    await expect(callServer(server.url, call, AbortSignal.abort(new Error('ended')))).rejects.toThrow('ended');
  });
});

describe('a draining server', () => {
  it('finishes running requests, rejects new ones on open connections, and accepts no new connections', async () => {
    const [slow, idle] = [await openConnection(server.url), await openConnection(server.url)];
    idle.write('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n');
    await readAnswer(idle);
    slow.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
    await server.entered.promise;
    const closed = server.serving?.close();

    idle.write('GET /hello HTTP/1.1\r\nHost: a\r\n\r\n');
    const refused = await readAnswer(idle);
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.body)).toMatchObject({ code: 14 });
    expect(refused.headers.get('connection')).toBe('close');
    await expect(fetch(`${server.url}/hello`)).rejects.toThrow('fetch failed');

    server.gate.resolve();
    const finished = await readAnswer(slow);
    expect(finished.body).toBe('{"slow":true}');
    expect(finished.headers.get('connection')).toBe('close');
    expect(await closed).toBe(0);
  });

  it('cuts running requests at its limit, and logs their number', async () => {
    const hasty = await server.another({}, 20);
    const answer = fetch(`${hasty.url}/slow`);
    await server.entered.promise;
    const [cut] = await Promise.all([hasty.close(), expect(answer).rejects.toThrow('fetch failed')]);
    expect(cut).toBe(1);
  });

  it('ends a long response that had begun', async () => {
    const response = await fetch(`${server.url}/stream`);
    await server.entered.promise;
    const closed = server.serving?.close();
    server.gate.resolve();
    expect(await response.text()).toBe('firstsecond');
    expect(await closed).toBe(0);
  });
});
