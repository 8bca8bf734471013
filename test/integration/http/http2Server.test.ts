import { once } from 'node:events';
import { constants } from 'node:http2';
import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { errorInfo } from '../../support/http/errorInfo.ts';
import { gatedServer } from '../../support/http/gatedServer.ts';
import { connectHttp2, type Http2Request, openStream, readStream, requestHttp2 } from '../../support/http/http2.ts';
import { END_HEADERS, END_STREAM, http2Frame, literal, preface } from '../../support/http/http2Frames.ts';
import { readAnswer } from '../../support/http/rawHttp.ts';

const server = gatedServer(() => [{ method: 'GET', path: '/breaks', handler: () => new Response(breaking()) }]);

function breaking(): ReadableStream<Uint8Array> {
  let pulls = 0;
  return new ReadableStream({
    async pull(controller) {
      pulls += 1;
      if (pulls === 1) return controller.enqueue(Buffer.from('first'));
      await server.gate.promise;
      throw new Error('hunter2');
    },
  });
}

beforeEach(async () => void (await server.start()));

describe('a connection of HTTP/1.1 or HTTP/2', () => {
  it.each([
    ['HTTP/1.1', 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc'],
    ['HTTP/1.1 with a method that begins as HTTP/2 does', 'PROPFIND /echo HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('with %s is recognised, even if it begins byte by byte', async (_name, request) => {
    const socket = await server.open();
    socket.setNoDelay(true);
    for (const byte of request) {
      socket.write(byte);
      await setImmediate();
    }
    expect((await readAnswer(socket)).status).toBe(request.startsWith('POST') ? 200 : 405);
  });

  it('that ends in the middle of the first line gets 400', async () => {
    const socket = await server.open();
    socket.end('PR');
    expect(JSON.parse((await readAnswer(socket)).body)).toEqual({
      code: 3,
      message: 'malformed HTTP request',
      details: [errorInfo('HTTP_MALFORMED')],
    });
  });

  it('that ends without a byte is closed', async () => {
    const socket = await server.open();
    socket.end();
    socket.resume();
    await once(socket, 'close');
  });

  it('that begins with HTTP/2 and continues with malformed bytes is closed', async () => {
    const socket = await server.open();
    socket.end(`PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${'x'.repeat(100)}`);
    socket.resume();
    await once(socket, 'close');
    expect((await requestHttp2(server.url, { method: 'POST', path: '/echo', body: 'still there' })).status).toBe(200);
  });
});

describe('a request over HTTP/2', () => {
  it('gets the same response as over HTTP/1', async () => {
    const body = 'x'.repeat(1_000_000);
    const answer = await requestHttp2(server.url, { method: 'POST', path: '/echo', body });
    expect(answer).toMatchObject({ status: 200, body, headers: { 'content-length': '1000000' } });
    expect(answer.headers['x-request-id']).toBeDefined();
  });

  it.each(['::1:8080', ':::8080', '[::1]:8080', '127.0.0.1:8080', 'identity.example'])(
    'gets a response with any form of authority: %s',
    async (authority) => {
      const headers = { ':authority': authority };
      const answer = await requestHttp2(server.url, { method: 'POST', path: '/echo', headers, body: 'abc' });
      expect(answer).toMatchObject({ status: 200, body: 'abc' });
    },
  );

  it.each<[string, Http2Request, number, number]>([
    ['an invalid authority', { path: '/slow', headers: { ':authority': 'a:99999' } }, 400, 3],
    ['an unknown path', { path: '/nowhere' }, 404, 5],
    ['another method', { path: '/echo' }, 405, 12],
    ['a malformed path', { path: '/%zz' }, 400, 3],
    ['another expectation', { method: 'POST', path: '/echo', headers: { expect: 'tea' } }, 417, 3],
    ['CONNECT', { method: 'CONNECT', headers: { ':authority': 'a:1' } }, 405, 12],
  ])('with %s gets the error body', async (_name, request, status, code) => {
    const answer = await requestHttp2(server.url, request);
    expect(answer).toMatchObject({ status, headers: { 'content-type': 'application/json' } });
    expect(JSON.parse(answer.body)).toHaveProperty('code', code);
  });

  it('that is rejected before its body was read is stopped without an error', async () => {
    const session = await server.openSession();
    const stream = openStream(session, { method: 'POST', path: '/refuse' });
    const { status, body, resetCode } = await readStream(stream);
    expect([status, JSON.parse(body)]).toEqual([401, { code: 16, message: 'auth header missing' }]);
    expect(resetCode).toBe(constants.NGHTTP2_NO_ERROR);
  });

  it('that is rejected gets the whole response before it is stopped, because some clients would otherwise lose it', async () => {
    const payload = Buffer.concat(
      [...Object.entries({ ':method': 'POST', ':scheme': 'http', ':path': '/refuse', ':authority': 'a' })].map(
        ([name, value]) => literal(name, value),
      ),
    );
    const socket = await server.open();
    const headers = http2Frame('headers', { stream: 1, flags: END_HEADERS, payload });
    socket.write(Buffer.concat([preface, http2Frame('settings'), headers]));
    const reset = http2Frame('resetStream', { stream: 1, payload: Buffer.alloc(4) });
    let received = Buffer.alloc(0);
    while (!received.includes(reset)) received = Buffer.concat([received, ...(await once(socket, 'data'))]);
    const body = '{"code":16,"message":"auth header missing"}';
    const last = http2Frame('data', { stream: 1, flags: END_STREAM, payload: Buffer.from(body) });
    expect(received.subarray(-reset.length - last.length)).toEqual(Buffer.concat([last, reset]));
  });

  it('with Expect: 100-continue gets 100 if its body is read', async () => {
    const session = await server.openSession();
    const stream = openStream(session, { method: 'POST', path: '/echo', headers: { expect: '100-continue' } });
    await once(stream, 'continue');
    stream.end('abc');
    expect(await readStream(stream)).toMatchObject({ status: 200, body: 'abc' });
  });

  it('stops when its client disconnects', async () => {
    const session = await server.openSession();
    const stream = openStream(session, { path: '/slow' });
    const signal = await server.entered.promise;
    const left = once(signal, 'abort');
    stream.close(constants.NGHTTP2_CANCEL);
    await left;
  });

  it('ends with an error if its response breaks off, so that the response is not mistaken for complete', async () => {
    const session = await server.openSession();
    const stream = openStream(session, { path: '/breaks' });
    const answer = readStream(stream);
    await once(stream, 'response');
    server.gate.resolve();
    expect(await answer).toMatchObject({ body: 'first', resetCode: constants.NGHTTP2_INTERNAL_ERROR });
  });
});

describe('a draining server', () => {
  it('finishes running streams, and sends GOAWAY on their connections', async () => {
    const session = await server.openSession();
    const idle = await server.openSession();
    const stream = openStream(session, { path: '/slow' });
    await server.entered.promise;
    const toldToGo = [once(session, 'goaway'), once(idle, 'goaway')];
    const closed = server.serving?.close();
    await Promise.all(toldToGo);
    await expect(fetch(`${server.url}/slow`)).rejects.toThrow('fetch failed');
    server.gate.resolve();
    expect(await readStream(stream)).toMatchObject({ status: 200, body: '{"slow":true}' });
    expect(await closed).toBe(0);
  });

  it('responds 503 on a connection without an earlier request', async () => {
    const [first, silent] = [await server.openSession(), await server.open()];
    const stream = openStream(first, { path: '/slow' });
    await server.entered.promise;
    const closed = server.serving?.close();
    silent.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
    const refused = await readAnswer(silent);
    expect([refused.status, refused.headers.get('connection')]).toEqual([503, 'close']);
    server.gate.resolve();
    expect((await readStream(stream)).status).toBe(200);
    expect(await closed).toBe(0);
  });

  it('cuts running requests at its limit', async () => {
    const hasty = await server.another({}, 20);
    const session = await connectHttp2(hasty.url);
    const stream = openStream(session, { path: '/slow' });
    stream.on('error', () => undefined);
    await server.entered.promise;
    const ended = once(stream, 'close');
    expect(await hasty.close()).toBe(1);
    await ended;
  });

  it('does not wait for idle connections', async () => {
    await server.open();
    await server.openSession();
    expect(await server.serving?.close()).toBe(0);
  });
});
