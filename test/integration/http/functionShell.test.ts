import { once } from 'node:events';
import http from 'node:http';
import { join } from 'node:path';
import { http as registerHttp } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createApp, type Route } from '../../../shared/http/app.ts';
import { type FunctionProgram, registerFunction } from '../../../shared/http/functionShell.ts';
import { serverUrl } from '../../../shared/http/server.ts';
import { configureLog } from '../../../shared/log.ts';
import { type Running, root, run, startProgram } from '../../../tools/program.ts';
import { openConnection, readAnswer } from '../../support/http/rawHttp.ts';

const framework = join(root, 'node_modules', '.bin', 'functions-framework');
const throwaway = ['--source=test/fixtures/functions/throwaway.ts', '--target=throwaway', '--port=0'];
const environment = { DATA_DIR: '/nowhere', FIRESTORE_EMULATOR_HOST: undefined };
const size = 250_000_000;

// A process registers its functions once, and replaces `http.createServer`: other test files of the worker need their own.
const { createServer } = http;
vi.hoisted(() => vi.resetModules());
afterAll(() => {
  http.createServer = createServer;
  vi.resetModules();
});

/** A function without a shutdown step. */
const program = (routes: readonly Route[]): FunctionProgram => ({ app: createApp({ routes }), close: async () => {} });

describe('the installed functions-framework', () => {
  it('requests its server from node:http with its Express application alone, which the shell replaces', () => {
    const asked = vi.spyOn(http, 'createServer');
    registerHttp('plain', () => undefined);
    getTestServer('plain');
    const [args, ...more] = asked.mock.calls;
    asked.mockRestore();
    expect(more).toEqual([]);
    expect(args).toEqual([expect.any(Function)]);
    expect(args?.[0]).toHaveProperty('handle', expect.any(Function));
    expect(args?.[0]).toHaveProperty('set', expect.any(Function));
  });
});

function behavesAsOurs(base: () => string): void {
  it.each([
    ['application/json', '{"hunter2'],
    ['application/json', '"hunter2"'],
    ['application/json; charset=nonsense', '{}'],
    ['application/cloudevents+json', '{"hunter2'],
    ['application/x-www-form-urlencoded', '%zz=hunter2&hunter2[a]=b'],
    ['text/plain', 'hunter2'],
    ['nonsense', 'hunter2'],
  ])('a function receives a body of the type %s as it was sent: %s', async (type, text) => {
    const response = await fetch(`${base()}/echo`, { method: 'POST', body: text, headers: { 'content-type': type } });
    expect(await response.json()).toEqual({ text, type });
  });

  it.each([
    ['GET', '/favicon.ico', 404],
    ['GET', '/robots.txt', 404],
    ['GET', '/echo', 405],
    ['POST', '/%zz', 400],
    ['POST', '/fail', 500],
    ['POST', '/fail?ours=1', 400],
  ])('a function responds to %s %s with %d in JSON', async (method, path, status) => {
    const body = method === 'GET' ? null : '{"hunter2';
    const response = await fetch(base() + path, { method, body, headers: { 'content-type': 'application/json' } });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('x-powered-by')).toBeNull();
    expect(await response.json()).toHaveProperty('code');
  });

  it('a function responds in JSON to bytes that are not HTTP', async () => {
    const socket = await openConnection(base());
    socket.write('hunter2\r\n\r\n');
    expect(JSON.parse((await readAnswer(socket)).body)).toHaveProperty('code', 3);
    socket.destroy();
  });
}

describe('a function under getTestServer', () => {
  let server: http.Server;

  beforeAll(async () => {
    vi.stubEnv('DATA_DIR', '/nowhere');
    vi.stubEnv('LOG_LEVEL', 'silent');
    await import('../../fixtures/functions/throwaway.ts');
    server = getTestServer('throwaway');
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterAll(async () => {
    server.close();
    vi.unstubAllEnvs();
    configureLog('silent');
  });

  behavesAsOurs(() => serverUrl(server));

  it('leaves the signals of the process alone', () => {
    expect(process.listenerCount('SIGTERM')).toBe(0);
  });

  it('leaves other servers of the process alone', async () => {
    const other = http.createServer((_request, response) => response.end('other')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    expect(await (await fetch(serverUrl(other))).text()).toBe('other');
    other.close();
  });

  it('cannot be registered twice', () => {
    expect(() => registerFunction('throwaway', () => program([]))).toThrow('registered already');
  });

  it('is selected by FUNCTION_TARGET among several', async () => {
    const hello = { method: 'GET', path: '/hello', handler: () => new Response('hello') } as const;
    registerFunction('other', () => program([hello]));
    expect(() => getTestServer('other')).toThrow(
      'FUNCTION_TARGET must be one of the registered functions: throwaway, other',
    );
    vi.stubEnv('FUNCTION_TARGET', 'other');
    const other = getTestServer('other').listen(0, '127.0.0.1');
    await once(other, 'listening');
    expect(await (await fetch(`${serverUrl(other)}/hello`)).text()).toBe('hello');
    other.close();
  });
});

describe("a function under the framework's command", () => {
  let started: Running;
  let url: string;

  beforeAll(async () => {
    started = await startThrowaway();
    url = urlOfFunction(started);
  });

  afterAll(() => started.stop('SIGKILL'));

  behavesAsOurs(() => url);

  it('streams a body of 250 MB to the function, whose memory does not grow with it', async () => {
    const socket = await openConnection(url);
    const head = [
      'POST /count HTTP/1.1',
      'Host: a',
      'Content-Type: application/json',
      `Content-Length: ${size}`,
      '',
      '',
    ];
    socket.write(head.join('\r\n'));
    const block = Buffer.alloc(1_000_000, '[');
    for (let sent = 0; sent < size; sent += block.length) {
      if (!socket.write(block)) await once(socket, 'drain');
    }
    const counted = z
      .object({ size: z.number(), grown: z.number() })
      .parse(JSON.parse((await readAnswer(socket)).body));
    socket.destroy();
    expect(counted.size).toBe(size);
    // Garbage that is not collected yet takes up to 100 MB at any size.
    expect(counted.grown).toBeLessThan(size / 2);
  });

  it('writes nothing of any body, and no HTML', () => {
    expect(outputOf(started)).toContain('"request finished"');
    expect(outputOf(started)).not.toMatch(/hunter2|<html/);
  });
});

describe('a function that gets a signal to end', () => {
  let started: Running;
  let url: string;

  beforeEach(async () => {
    started = await startThrowaway();
    url = urlOfFunction(started);
  });

  afterEach(() => started.stop('SIGKILL'));

  it('finishes running requests at SIGTERM, rejects new ones, and exits with 0', async () => {
    const [slow, idle] = [await openConnection(url), await openConnection(url)];
    idle.write('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n');
    expect((await readAnswer(idle)).status).toBe(200);
    slow.write('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234');
    // A second response on the other connection shows that the first request has arrived.
    idle.write('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n');
    expect((await readAnswer(idle)).status).toBe(200);

    const ended = started.stop('SIGTERM');
    await started.written('"shutting down"');
    idle.write('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n');
    const refused = await readAnswer(idle);
    expect([refused.status, refused.headers.get('connection')]).toEqual([503, 'close']);
    expect(JSON.parse(refused.body)).toHaveProperty('code', 14);

    slow.write('56789');
    expect(JSON.parse((await readAnswer(slow)).body)).toHaveProperty('text', '0123456789');
    expect((await ended).code).toBe(0);
    expect(outputOf(started)).toMatch(/closed\n.*"unfinished":0/);
  });

  it('exits with 0 at SIGINT without running requests', async () => {
    expect((await started.stop('SIGINT')).code).toBe(0);
  });
});

describe("a function that runs without the framework's command", () => {
  it.each([
    [
      'lists the problems of its configuration',
      { DATA_DIR: '', LOG_LEVEL: 'loud' },
      ['LOG_LEVEL must be', 'DATA_DIR or'],
    ],
    [
      'reports the error if it cannot start',
      { THROWAWAY_FAULT: 'the database is not there' },
      [': the database is not there'],
    ],
  ])('%s, and exits with 1', async (_name, env, texts) => {
    const ended = await run(process.execPath, [framework, ...throwaway], { env: { ...environment, ...env } });
    expect(ended.code).toBe(1);
    for (const text of ['the function "throwaway" cannot start', ...texts]) {
      expect(`${ended.stdout}${ended.stderr}`).toContain(text);
    }
  });

  it('cuts unfinished requests at its limit', async () => {
    const started = await startThrowaway({ SHUTDOWN_SECONDS: '0' });
    const url = urlOfFunction(started);
    const [slow, other] = [await openConnection(url), await openConnection(url)];
    slow.on('error', () => slow.destroy());
    slow.write('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234');
    other.write('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n');
    await readAnswer(other);
    expect((await started.stop('SIGTERM')).code).toBe(0);
    expect(outputOf(started)).toContain('"unfinished":1');
  });
});

/** Starts the framework for a function that is not part of the product. */
function startThrowaway(env: Readonly<Record<string, string>> = {}): Promise<Running> {
  const listening = /"url":"http:[^"]*:(\d+)"/;
  return startProgram(process.execPath, [framework, ...throwaway], listening, { env: { ...environment, ...env } });
}

function urlOfFunction({ ready }: Running): string {
  return `http://127.0.0.1:${ready[1]}`;
}

function outputOf(running: Running): string {
  return `${running.stdout()}${running.stderr()}`;
}
