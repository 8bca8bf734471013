import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { createApp, type Route } from '../../../shared/http/app.ts';
import { serve } from '../../../shared/http/server.ts';
import { configureLog } from '../../../shared/log.ts';
import { openConnection } from '../../support/http/rawHttp.ts';

/** More than the buffers of a connection. */
const BYTES = 50_000_000;
/** Much longer than a busy machine stops the test's process. */
const STALL_MS = 5_000;
/** The pauses of a slow client that stays within the limit. */
const PAUSE_MS = STALL_MS / 400;

const large: Route = { method: 'GET', path: '/large', handler: () => new Response(Buffer.alloc(BYTES)) };

async function requestLarge() {
  configureLog('silent');
  const limits = { stallMs: STALL_MS };
  const { promise: cut, resolve: onCut } = Promise.withResolvers<void>();
  const observer = { started: () => {}, finished: () => onCut() };
  const serving = await serve({ app: createApp({ routes: [large], observer }), host: '127.0.0.1', port: 0, limits });
  onTestFinished(async () => void (await serving.close()));
  const socket = await openConnection(serving.url);
  socket.on('error', () => undefined).once('end', () => socket.destroy());
  socket.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
  return { cut, socket };
}

it('a client that stops reading its response is disconnected', async () => {
  const { cut, socket } = await requestLarge();
  await once(socket, 'readable');
  // The request has finished when its connection is closed.
  await cut;
  let received = 0;
  socket.on('data', (chunk: Buffer) => {
    received += chunk.byteLength;
  });
  await once(socket, 'close');
  expect(received).toBeLessThan(BYTES);
});

it('a client that pauses gets its whole response, however long it takes', async () => {
  const { socket } = await requestLarge();
  const begin = performance.now();
  let received = 0;
  for await (const chunk of socket) {
    received += Buffer.from(chunk).byteLength;
    if (received > BYTES) break;
    if (performance.now() - begin < 1.2 * STALL_MS) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  expect(received).toBeGreaterThan(BYTES);
});
