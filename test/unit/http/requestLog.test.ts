import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Origin } from '../../../shared/audit/auditEvent.ts';
import { createApp } from '../../../shared/http/app.ts';
import { clientKey } from '../../../shared/http/exchange.ts';
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

/** The origin of a request without a socket. */
async function originOf(headers: Record<string, string>, trustedProxies = 0): Promise<Origin> {
  configureLog('silent');
  await createApp({ trustedProxies, routes }).request('/', { headers: { 'x-request-id': 'r1', ...headers } });
  return origin;
}

describe('the address of a client', () => {
  const header = (value: string) => ({ 'x-forwarded-for': value });

  it('is the one that the trusted proxies append, not those that the client writes', async () => {
    expect(await originOf(header('203.0.113.9, 192.0.2.1, 198.51.100.7'), 2)).toMatchObject({ remote: '192.0.2.1' });
    expect(await originOf(header('203.0.113.9,2001:db8::1'), 1)).toMatchObject({ remote: '2001:db8::1' });
  });

  it('is not taken from the header where no proxy is trusted, where fewer have appended, or where it is none', async () => {
    expect(await originOf(header('192.0.2.1'))).toEqual({ requestId: 'r1' });
    expect(await originOf(header('192.0.2.1'), 2)).toEqual({ requestId: 'r1' });
    expect(await originOf(header('evil"\\n, 192.0.2.1'), 2)).toEqual({ requestId: 'r1' });
  });

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::3:4:5:6', '2001:db8:0:0::/64'],
    ['2001::4:5:6:7:8', '2001:0:0:4::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, ''],
  ])('%s counts as the client %s', (address, key) => {
    expect(clientKey(address)).toBe(key);
  });
});

describe('the trace of a request', () => {
  it.each([
    [{ traceparent: `00-${trace}-b7ad6b7169203331-01` }, trace],
    [{ 'x-cloud-trace-context': `${trace}/1;o=1` }, trace],
    [{ 'x-cloud-trace-context': trace }, trace],
    [{ traceparent: `00-${trace}`, 'x-cloud-trace-context': `${trace}0` }, undefined],
  ])('of %j is %s', async (headers, expected) => {
    expect(await originOf(headers)).toEqual({ requestId: 'r1', ...(expected && { trace: expected }) });
  });

  const headers = { 'x-cloud-trace-context': trace };
  const fail = () => createApp({ routes }).request('/fails', { headers });

  /** The lines that `work` logs, in a process of the project or of none. */
  async function logged(work: () => unknown, project?: string): Promise<unknown[]> {
    let text = '';
    const write = (chunk: unknown, _encoding: unknown, done: () => void) => {
      text += String(chunk);
      done();
    };
    configureLog('info', new Writable({ write }), project);
    await work();
    return Array.from(text.trim().split('\n'), (line): unknown => JSON.parse(line));
  }

  it.each([
    ['of an internal error and of the request', fail, ['request failed', 'request finished']],
    ['of a response that breaks off', () => log.responseBroken(new Error('lost'), 'r', trace), ['response aborted']],
  ])('is in the log lines %s, in the form of Cloud Logging', async (_name, work, messages) => {
    const named = { 'logging.googleapis.com/trace': `projects/acme-identity/traces/${trace}` };
    expect(await logged(work, 'acme-identity')).toMatchObject(messages.map((message) => ({ message, ...named })));
  });

  it('is in no line of a process without a project', async () => {
    const lines = await logged(fail);
    expect(lines).toHaveLength(2);
    expect(JSON.stringify(lines)).not.toContain(trace);
  });
});

it('shows a person at a terminal a legible line for each request', async () => {
  let shown = '';
  const write = (text: string) => {
    shown += text;
  };
  configureLog('info', { isTTY: true, write });
  const app = createApp({ trustedProxies: 0, routes });
  for (const path of ['/', '/fails', '/nowhere']) await app.request(path, { headers: { 'x-request-id': 'r1' } });
  log.auditFailed(new Error('full \u001b[2J disk'), { event: 'import.started', time: '2026-11-23' });
  const clock = '\\d\\d:\\d\\d:\\d\\d';
  expect(shown).toMatch(new RegExp(`^${clock} GET / 200 \\d+ ms r1$`, 'm'));
  expect(shown).toMatch(new RegExp(`^${clock} GET /fails 500 \\d+ ms r1$`, 'm'));
  expect(shown).toMatch(new RegExp(`^${clock} GET \\(no route\\) 404 \\d+ ms r1$`, 'm'));
  expect(shown).toMatch(/ ERROR audit failed event import.started .*\n.*full \?\[2J disk\n {4}at /);
});
