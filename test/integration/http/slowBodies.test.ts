import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createApp } from '../../../shared/http/app.ts';
import { expectBody } from '../../../shared/http/exchange.ts';
import { type HttpServerOptions, serve } from '../../../shared/http/server.ts';
import { fixedLimits } from '../../../shared/limits.ts';
import { configureLog } from '../../../shared/log.ts';
import { ended, openConnection, readAnswer, sendUntilClosed } from '../../support/http/rawHttp.ts';
import { type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

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

/** Serves an application, and connects to it; both end with the test. */
async function connectTo(app: TestInstance['app'], limits: HttpServerOptions = {}): Promise<Socket> {
  const serving = await serve({ app, host: '127.0.0.1', port: 0, limits, drainMs: 0 });
  const socket = await openConnection(serving.url);
  onTestFinished(async () => {
    socket.destroy();
    await serving.close();
  });
  return socket.on('error', () => undefined);
}

describe('the rest of a body after a response', () => {
  const LINGER_MS = 1_500;

  it.each(['/admin/v1/import', '/admin/v1/export'])(
    'is awaited for a while from a caller with a token, who sends too much: %s',
    async (path) => {
      const { app, token } = await testInstance(await openTestStore(sqlite));
      const socket = await connectTo(app, { lingerMs: LINGER_MS });
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Length: 2000000000\r\n\r\n{`,
      );
      expect((await readAnswer(socket)).status).toBe(413);
      await ended(socket);
      expect(await sendUntilClosed(socket)).toBeGreaterThan(LINGER_MS - 50);
    },
  );

  it.each(['/admin/v1/import', '/admin/v1/export'])('is not awaited from anybody else: %s', async (path) => {
    const { app } = await testInstance(await openTestStore(sqlite));
    // A test that waits for so long fails.
    const socket = await connectTo(app, { lingerMs: 600_000 });
    socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000000\r\n\r\n{`);
    expect((await readAnswer(socket)).status).toBe(401);
    await ended(socket);
  });

  it.each([
    ['without content', new Response(null)],
    ['with content', new Response('late')],
    ['that never has any', new Response(null, { status: 204 })],
  ])('does not delay a response %s', async (_name, response) => {
    configureLog('silent');
    const handler = ({ req }: { readonly req: { readonly raw: Request } }) => {
      expectBody(req.raw);
      return response;
    };
    const route = { method: 'POST', path: '/', handler } as const;
    const socket = await connectTo(createApp({ routes: [route] }), { lingerMs: 600_000 });
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{');
    expect(await readAnswer(socket)).toMatchObject({ status: response.status, body: response.body ? 'late' : '' });
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
    const socket = await connectTo(app);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const noWindow = '000006040000000000000400000000';
    const getRoot = '000006010500000001828684410161';
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(Buffer.from(noWindow + getRoot, 'hex'));
    await frameArrives(socket, '0104');
    await vi.advanceTimersByTimeAsync(fixedLimits.stallMs + 1_000);
    await frameArrives(socket, '000004030000000001');
  });
});

/** Waits until a connection receives a frame of HTTP/2 that has some bytes, in hexadecimal. */
async function frameArrives(socket: Socket, bytes: string): Promise<void> {
  for (let received = ''; !received.includes(bytes); ) {
    const [chunk] = await once(socket, 'data');
    received += Buffer.from(chunk).toString('hex');
  }
}
