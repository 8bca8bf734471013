import { beforeAll, describe, expect, it } from 'vitest';
import { createApp, type Route } from '../../shared/http/app.ts';
import { configureLog } from '../../shared/log.ts';

const routes: Route[] = [{ method: 'DELETE', path: '/thing', handler: (context) => context.json({ done: true }) }];
const page = 'https://console.example';
const open = createApp({ routes, corsOrigins: [page, 'http://localhost:3000'] });
const closed = createApp({ routes });

beforeAll(() => configureLog('silent'));

const preflight = (app: typeof open, origin: string, path = '/thing') =>
  app.request(path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'DELETE',
      'access-control-request-headers': 'authorization,x-grpc-web',
    },
  });

const corsHeaders = ({ headers }: Response) => [...headers.keys()].filter((name) => name.startsWith('access-control'));

describe('where origins are configured', () => {
  it.each(['/thing', '/nowhere'])('their pages are told what they may send to %s', async (path) => {
    const response = await preflight(open, page, path);
    expect(response.status).toBe(204);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': page,
      'access-control-allow-methods': 'GET,POST,DELETE',
      'access-control-allow-headers': 'authorization,x-grpc-web',
      'access-control-max-age': '7200',
      vary: expect.stringContaining('Origin'),
    });
    expect(response.headers.has('access-control-allow-credentials')).toBe(false);
  });

  it.each([
    ['an answer', 'DELETE', '/thing', 200],
    ['an error', 'DELETE', '/nowhere', 404],
    ['a method that is not offered', 'POST', '/thing', 405],
    ['a malformed path', 'DELETE', '/%zz', 400],
  ])('their pages may read %s', async (_what, method, path, status) => {
    const response = await open.request(path, { method, headers: { origin: page } });
    expect(response.status).toBe(status);
    expect(response.headers.get('access-control-allow-origin')).toBe(page);
    expect(response.headers.get('access-control-expose-headers')).toContain('grpc-status');
    expect(response.headers.get('content-type')).toBe('application/json');
  });

  it.each(['https://evil.example', 'https://console.example.evil', 'http://console.example', 'null'])(
    'the page of %s is not among them',
    async (origin) => {
      expect((await preflight(open, origin)).status).toBe(405);
      expect(corsHeaders(await preflight(open, origin))).toEqual([]);
      expect(corsHeaders(await open.request('/thing', { method: 'DELETE', headers: { origin } }))).toEqual([]);
    },
  );

  it('OPTIONS that asks for nothing is a method like any other', async () => {
    expect((await open.request('/thing', { method: 'OPTIONS', headers: { origin: page } })).status).toBe(405);
  });
});

it('where none is configured no page may call', async () => {
  expect((await preflight(closed, page)).status).toBe(405);
  expect(corsHeaders(await closed.request('/thing', { method: 'DELETE', headers: { origin: page } }))).toEqual([]);
});
