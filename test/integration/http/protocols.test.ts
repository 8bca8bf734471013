import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { createHttp1, createHttp2, createPort } from '../../../shared/http/protocols.ts';
import { ended, openConnection } from '../../support/http/rawHttp.ts';

let stack = new AsyncDisposableStack();

afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

/** Sends a text to a port on one connection. Resolves when the server has closed the connection. */
async function send(text: string, onRequest: (request: IncomingMessage) => void): Promise<void> {
  const http1 = createHttp1({ headersMs: 10_000, keepAliveMs: 10_000, timeoutMs: 10_000 }).on('request', onRequest);
  const port = createPort(http1, createHttp2(), { headersMs: 10_000, isFullOfSessions: () => false });
  stack.defer(() => void port.close());
  await once(port.listen(0, '127.0.0.1'), 'listening');
  const address = port.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const socket = await openConnection(`http://127.0.0.1:${address.port}`);
  stack.defer(() => void socket.destroy());
  socket.on('error', () => undefined).write(text);
  await ended(socket);
}

const post = (body: string) => `POST / HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const FLOOD = 'GET / HTTP/1.1\r\n\r\n'.repeat(10_000);

it('a large body arrives in larger parts than requests', async () => {
  const sizes: number[] = [];
  await send(post('x'.repeat(1_000_000)), (request) => {
    request.on('data', (part: Buffer) => sizes.push(part.length)).on('end', () => request.socket.destroy());
  });
  expect(sizes.reduce((sum, size) => sum + size)).toBe(1_000_000);
  expect(Math.max(...sizes)).toBeGreaterThan(10_000);
});

it.each([0, 1, 1_023, 1_024, 1_025, 5_000])(
  'a server parses few of the requests after a body of %i bytes once the connection is destroyed',
  async (size) => {
    let requests = 0;
    await send(`${post('x'.repeat(size))}${FLOOD}`, (request) => {
      requests++;
      request.resume();
      if (requests === 2) request.socket.destroy();
    });
    expect(requests).toBeGreaterThan(1);
    expect(requests).toBeLessThan(100);
  },
);
