import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type HttpServerOptions, serve } from '../../../shared/http/server.ts';
import { fixedLimits } from '../../../shared/limits.ts';
import { openConnection } from '../../support/http/rawHttp.ts';
import { type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

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

const brace = Buffer.from('{');

describe('a request whose body never ends', () => {
  it.each(['/admin/v1/export', '/admin/v1/import'])('ends at %s after the longest time for a call', async (path) => {
    const instance = await testInstance(await openTestStore(sqlite), 'test', { limits: { timeoutMs: 20 } });
    const response = await sendEndless(instance, path, 'application/json', brace).response;
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ code: 4 });
  });
});

describe('a response that its client does not read', () => {
  afterEach(() => void vi.useRealTimers());

  it('is aborted over HTTP/2 if the client grants no window', async () => {
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
