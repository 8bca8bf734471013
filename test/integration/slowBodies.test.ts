import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createApp } from '../../shared/http/app.ts';
import { serverUrl } from '../../shared/http/serve.ts';
import { createHttpServer } from '../../shared/http/server.ts';
import { fixedLimits } from '../../shared/limits.ts';
import { configureLog } from '../../shared/log.ts';
import { openConnection, readAnswer } from '../support/http/rawHttp.ts';
import { type TestInstance, testInstance } from '../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../support/stores/stores.ts';

const rpc = '/zitadel.user.v2.UserService/RemoveOTPEmail';

/** Sends the beginning of a body that never ends. `read` resolves when the service waits for the rest. */
function sendEndless({ app, token }: TestInstance, path: string, type: string, start: Uint8Array) {
  const { promise: read, resolve } = Promise.withResolvers<void>();
  let isStarted = false;
  const body = new ReadableStream(
    {
      pull(controller) {
        if (isStarted) return resolve();
        isStarted = true;
        controller.enqueue(start);
      },
    },
    { highWaterMark: 0 },
  );
  const headers = { authorization: `Bearer ${token}`, 'content-type': type };
  return { read, response: app.request(path, { method: 'POST', body, headers, duplex: 'half' }) };
}

describe('the rest of a body after a response', () => {
  const LINGER_MS = 400;
  /** A test that waits for so long fails. */
  const ENDLESS_MS = 600_000;

  it.each([
    ['an import that is too large, with a token', '/admin/v1/import', true, 413],
    ['an export that is too large, with a token', '/admin/v1/export', true, 413],
    ['an import without a token', '/admin/v1/import', false, 401],
  ])('is awaited for longer only from callers with a token: %s', async (_name, path, hasToken, status) => {
    const { app, token } = await testInstance(await openTestStore(sqlite));
    const { server, drain } = createHttpServer(app, {
      lingerMs: hasToken ? LINGER_MS : ENDLESS_MS,
      strangerLingerMs: hasToken ? 0 : 1,
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = await openConnection(serverUrl(server));
    const authorization = hasToken ? `Authorization: Bearer ${token}\r\n` : '';
    const begin = performance.now();
    socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\n${authorization}Content-Length: 2000000000\r\n\r\n{`);
    expect((await readAnswer(socket)).status).toBe(status);
    socket.resume();
    if (!socket.readableEnded) await once(socket, 'end');
    const waited = performance.now() - begin;
    socket.destroy();
    await drain(0);
    if (hasToken) expect(waited).toBeGreaterThan(LINGER_MS - 10);
  });

  it.each([
    ['without content', new Response(null)],
    ['with content', new Response('late')],
    ['that never has any', new Response(null, { status: 204 })],
  ])('does not delay a response %s', async (_name, response) => {
    configureLog('silent');
    const route = { method: 'POST', path: '/', handler: () => response } as const;
    const { server, drain } = createHttpServer(createApp({ routes: [route] }), { strangerLingerMs: ENDLESS_MS });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = await openConnection(serverUrl(server));
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{');
    expect(await readAnswer(socket)).toMatchObject({ status: response.status, body: response.body ? 'late' : '' });
    socket.destroy();
    await drain(0);
  });
});

const brace = Buffer.from('{');

describe('a request whose body never ends', () => {
  afterEach(() => void vi.useRealTimers());

  it.each(['/admin/v1/export', '/admin/v1/import'])(
    'is given up at %s when the longest time for a call is over',
    async (path) => {
      const instance = await testInstance(await openTestStore(sqlite), 'test', { limits: { timeoutMs: 20 } });
      const response = await sendEndless(instance, path, 'application/json', brace).response;
      expect(response.status).toBe(504);
      expect(await response.json()).toMatchObject({ code: 4 });
    },
  );

  it.each(['/admin/v1/export', '/admin/v1/import'])('is 408 at %s after ten seconds of waiting', async (path) => {
    const instance = await testInstance(await openTestStore(sqlite));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { read, response } = sendEndless(instance, path, 'application/json', brace);
    await read;
    await vi.advanceTimersByTimeAsync(fixedLimits.bodyGraceMs + 1_000);
    expect((await response).status).toBe(408);
    expect(await (await response).json()).toMatchObject({ code: 4, message: expect.stringContaining('too slowly') });
  });

  it.each([
    ['application/json', brace, { status: 408, body: { code: 'deadline_exceeded' } }],
    ['application/proto', brace, { status: 408, body: { code: 'deadline_exceeded' } }],
    ['application/grpc', Buffer.from([0, 0, 0, 0, 9]), { status: 200, grpcStatus: '4' }],
    ['application/grpc-web', Buffer.from([0, 0, 0, 0, 9]), { status: 200, grpcStatus: '4' }],
    ['application/grpc-web-text', Buffer.from('AAAAAAk='), { status: 200, grpcStatus: '4' }],
  ])('ends an RPC in its protocol, a hundred of them at once: %s', async (type, start, expected) => {
    const instance = await testInstance(await openTestStore(sqlite));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const sent = Array.from({ length: 100 }, () => sendEndless(instance, rpc, type, start));
    await Promise.all(sent.map(({ read }) => read));
    await vi.advanceTimersByTimeAsync(fixedLimits.bodyGraceMs + 1_000);
    for (const { response } of sent) {
      const { status, headers } = await response;
      const grpcStatus = headers.get('grpc-status');
      const body: unknown = grpcStatus === null ? await (await response).json() : undefined;
      expect({ status, grpcStatus, body }).toMatchObject(expected);
    }
  });
});

describe('a response that its client does not take', () => {
  afterEach(() => void vi.useRealTimers());

  it('is aborted over HTTP/2, where the client grants no window', async () => {
    const { app } = await testInstance(await openTestStore(sqlite));
    const { server, drain } = createHttpServer(app);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = await openConnection(serverUrl(server));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const noWindow = '000006040000000000000400000000';
    const getRoot = '000006010500000001828684410161';
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(Buffer.from(noWindow + getRoot, 'hex'));
    await frameArrives(socket, '0104');
    await vi.advanceTimersByTimeAsync(fixedLimits.stallMs + 1_000);
    await frameArrives(socket, '000004030000000001');
    socket.destroy();
    expect(await drain(0)).toBe(0);
  });
});

/** Waits until a connection receives a frame of HTTP/2 that has some bytes, in hexadecimal. */
async function frameArrives(socket: Socket, bytes: string): Promise<void> {
  for (let received = ''; !received.includes(bytes); ) {
    const [chunk] = await once(socket, 'data');
    received += Buffer.from(chunk).toString('hex');
  }
}
