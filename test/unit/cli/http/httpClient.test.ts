import { once } from 'node:events';
import { createServer } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { callServer } from '../../../../cli/http/httpClient.ts';

it('a call that is aborted while its arrived response is read does not end the process', async () => {
  const uncaught = vi.fn();
  process.on('uncaughtException', uncaught);
  onTestFinished(() => void process.off('uncaughtException', uncaught));
  const server = createServer((_, response) => {
    response.write('begin');
    response.end('end');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const connected = once(server, 'connection');
  const call = new AbortController();
  const { body } = await callServer(`http://127.0.0.1:${port}`, { method: 'GET', path: '/' }, call.signal);
  await body[Symbol.asyncIterator]().next();
  const [socket] = await connected;
  const closed = once(socket, 'close');
  call.abort();
  await closed;
  await setImmediate();
  expect(uncaught).not.toHaveBeenCalled();
});
