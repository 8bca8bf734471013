import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Origin } from '../../../shared/audit/auditEvent.ts';
import { createApp } from '../../../shared/http/app.ts';
import { configureLog, log } from '../../../shared/log.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
let origin: Origin = {};
const routes = [
  {
    method: 'GET',
    path: '/',
    handler: (context: { get(name: 'origin'): Origin }) => {
      origin = context.get('origin');
      return new Response();
    },
  },
  {
    method: 'GET',
    path: '/fails',
    handler: () => {
      throw new Error('lost');
    },
  },
] as const;

/** A stream, and its accepted text. While `isFull` returns true, it accepts nothing. */
function collected(isFull = () => false) {
  let text = '';
  const write = (chunk: string, done: (error?: Error) => void) => {
    if (isFull()) return done(new Error('no space left on device'));
    text += chunk;
    done();
  };
  return { stream: Object.assign(new EventEmitter(), { write, writableLength: 0 }), text: () => text };
}

/** The origin of a request without a socket. */
async function originOf(headers: Record<string, string>, trustedProxies = 0): Promise<Origin> {
  configureLog('silent');
  await createApp({ trustedProxies, routes }).request('/', { headers: { 'x-request-id': 'r1', ...headers } });
  return origin;
}

describe('the address of a client', () => {
  const header = (value: string) => ({ 'x-forwarded-for': value });

  it('is the one appended by the trusted proxies, not one written by the client', async () => {
    expect(await originOf(header('203.0.113.9, 192.0.2.1, 198.51.100.7'), 2)).toMatchObject({ remote: '192.0.2.1' });
    expect(await originOf(header('203.0.113.9,2001:db8::1'), 1)).toMatchObject({ remote: '2001:db8::1' });
  });

  it('is not taken from the header if no proxy is trusted, if fewer have appended, or if it is invalid', async () => {
    expect(await originOf(header('192.0.2.1'))).toEqual({ requestId: 'r1' });
    expect(await originOf(header('192.0.2.1'), 2)).toEqual({ requestId: 'r1' });
    expect(await originOf(header('evil"\\n, 192.0.2.1'), 2)).toEqual({ requestId: 'r1' });
  });
});

describe('the trace of a request', () => {
  it.each([
    [{ traceparent: `00-${trace}-b7ad6b7169203331-01` }, trace],
    [{ 'x-cloud-trace-context': `${trace}/1;o=1` }, trace],
    [{ 'x-cloud-trace-context': trace }, trace],
    [{ traceparent: `00-${trace}`, 'x-cloud-trace-context': `${trace}0` }, undefined],
  ])('of %j is %s', async (headers, expected) => {
    expect(await originOf(headers)).toEqual({ requestId: 'r1', ...(expected ? { trace: expected } : {}) });
  });

  const headers = { 'x-cloud-trace-context': trace };
  const fail = () => createApp({ routes }).request('/fails', { headers });

  /** The lines that `work` logs, in a process with or without a project. */
  async function logged(work: () => unknown, project?: string): Promise<unknown[]> {
    const { stream, text } = collected();
    configureLog('info', stream, project);
    await work();
    return Array.from(text().trim().split('\n'), (line): unknown => JSON.parse(line));
  }

  it('is in the log lines of an internal error and of the request, in the form of Cloud Logging', async () => {
    const named = { 'logging.googleapis.com/trace': `projects/acme-identity/traces/${trace}` };
    const messages = ['request failed', 'request finished'];
    expect(await logged(fail, 'acme-identity')).toMatchObject(messages.map((message) => ({ message, ...named })));
  });

  it('is missing in the lines of a process without a project', async () => {
    const lines = await logged(fail);
    expect(lines).toHaveLength(2);
    expect(JSON.stringify(lines)).not.toContain(trace);
  });
});

it('the log shows a legible line for each request at a terminal', async () => {
  const { stream, text } = collected();
  configureLog('info', Object.assign(stream, { isTTY: true }));
  const app = createApp({ trustedProxies: 0, routes });
  for (const path of ['/', '/fails', '/nowhere']) await app.request(path, { headers: { 'x-request-id': 'r1' } });
  log.error(
    { event: 'import.started', event_time: '2026-11-23', stack_trace: new Error('full \u001b[2J disk') },
    'audit failed',
  );
  const shown = text();
  const clock = '\\d\\d:\\d\\d:\\d\\d';
  expect(shown).toMatch(new RegExp(`^${clock} GET / 200 \\d+ ms r1$`, 'm'));
  expect(shown).toMatch(new RegExp(`^${clock} GET /fails 500 \\d+ ms r1$`, 'm'));
  expect(shown).toMatch(new RegExp(`^${clock} GET \\(no route\\) 404 \\d+ ms r1$`, 'm'));
  expect(shown).toMatch(/ ERROR audit failed event import.started .*\n.*full \?\[2J disk\n {4}at /);
});

describe('the log', () => {
  it('contains no method that a client made up', async () => {
    const { stream, text } = collected();
    configureLog('info', stream);
    const app = createApp({ routes });
    for (const method of ['DELETE', 'DELETE2', 'M'.repeat(4_000)]) await app.request('/', { method });
    const methods = Array.from(text().trim().split('\n'), (line): unknown => JSON.parse(line).method);
    expect(methods).toEqual(['DELETE', 'other', 'other']);
  });

  it('counts the lines that its stream rejected', () => {
    let isFull = false;
    const { stream, text } = collected(() => isFull);
    configureLog('info', stream);
    log.info({ url: 'first' }, 'listening');
    isFull = true;
    for (const url of ['lost', 'lost too', 'also lost']) log.info({ url }, 'listening');
    isFull = false;
    log.info({ url: 'last' }, 'listening');
    const lines = Array.from(text().trim().split('\n'), (line): unknown => JSON.parse(line));
    expect(lines).toMatchObject([
      { message: 'listening', url: 'first' },
      { message: 'listening', url: 'last' },
      { message: 'log lines lost', severity: 'WARNING', lines: 3 },
    ]);
  });

  it('keeps no more than 1.1 MB of lines for a stream that is not read, and counts the others', async () => {
    const lines: { readonly message: string; readonly lines?: number }[] = [];
    const waiting: (() => void)[] = [];
    let isRead = false;
    const stream = new Writable({
      decodeStrings: false,
      write(line: string, _encoding, done) {
        lines.push(JSON.parse(line));
        if (isRead) done();
        else waiting.push(done);
      },
    });
    configureLog('info', stream);
    const logged = 20_000;
    for (let index = 0; index < logged; index++) log.info({ url: 'http://127.0.0.1:8080' }, 'listening');
    expect(stream.writableLength).toBeLessThan(1_100_000);
    isRead = true;
    for (const done of waiting) done();
    while (stream.writableLength > 0) await setImmediate();
    const lost = lines.flatMap((line) => line.lines ?? []).reduce((sum, count) => sum + count, 0);
    expect(lost).toBeGreaterThan(1_000);
    expect(lines.filter(({ message }) => message === 'listening')).toHaveLength(logged - lost);
  });
});
