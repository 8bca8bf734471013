import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createApp } from '../../../shared/http/app.ts';
import { type RunningServer, serve } from '../../../shared/http/server.ts';
import { fixedLimits } from '../../../shared/limits.ts';
import { configureLog } from '../../../shared/log.ts';
import { errorInfo } from '../../support/http/errorInfo.ts';
import { requestHttp2 } from '../../support/http/http2.ts';
import { openConnection, readAnswer } from '../../support/http/rawHttp.ts';

const { headerBytes } = fixedLimits;
const tooLarge = {
  code: 8,
  message: 'request headers too large: send fewer or shorter ones',
  details: [errorInfo('HTTP_HEADERS_TOO_LARGE')],
};
let serving: RunningServer;

beforeEach(async () => {
  configureLog('silent');
  const hello = { method: 'GET', path: '/hello', handler: () => new Response('hello') } as const;
  serving = await serve({ app: createApp({ routes: [hello] }), host: '127.0.0.1', port: 0 });
});

afterEach(async () => void (await serving.close()));

const sizes = [
  [headerBytes - 1, 200],
  [headerBytes, 200],
  [headerBytes + 1, 431],
] as const;

describe('headers', () => {
  it.each(sizes)('of %i bytes over HTTP/1.1 get status %i', async (bytes, expected) => {
    const filler = 'x'.repeat(bytes - '/hello'.length - 'Host'.length - 'a'.length - 'X'.length);
    const socket = await openConnection(serving.url);
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
    const { status, body } = await requestHttp2(serving.url, { path: '/hello', headers });
    expect(status).toBe(expected);
    if (expected === 431) expect(JSON.parse(body)).toEqual(tooLarge);
  });
});
