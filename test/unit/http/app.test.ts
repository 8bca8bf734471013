import { describe, expect, it } from 'vitest';
import { userNotFound } from '../../../shared/errors/errors.ts';
import { createApp, type Route } from '../../../shared/http/app.ts';
import { withOpenApi } from '../../../shared/http/docsPage.ts';
import { capturedLog } from '../../support/http/capturedLog.ts';

const app = createApp({
  routes: [
    {
      method: 'DELETE',
      path: '/v2/users/:userId/otp_email',
      handler: (context) => context.json({ userId: context.req.param('userId') }),
    },
    { method: 'GET', path: '/document', handler: (context) => context.json({ a: 1 }) },
    { method: 'POST', path: '/document', handler: (context) => context.json({ b: 1 }) },
    {
      method: 'POST',
      path: '/fails/:how',
      handler: (context) => {
        throw context.req.param('how') === 'ours' ? userNotFound() : new Error('hunter2');
      },
    },
  ],
});

const logged = capturedLog();

const remove = (userId: string) => app.request(`/v2/users/${userId}/otp_email`, { method: 'DELETE' });

describe('a path', () => {
  it.each([
    ['123', '123'],
    ['auth0%7Cabc', 'auth0|abc'],
    ['%E4%BD%A0%E5%A5%BD', '\u4f60\u597d'],
    ['\u4f60\u597d', '\u4f60\u597d'],
    ['a%2Fb', 'a/b'],
    ['a%2fb%2F', 'a/b/'],
    ['100%25', '100%'],
    ['%252F', '%2F'],
    ['%2525', '%25'],
    ['a%3Fb%23c', 'a?b#c'],
    ['a+b%20c', 'a+b c'],
    ['a%00b', 'a\0b'],
    ['%F0%9F%98%80', '\u{1f600}'],
  ])('passes the parameter %s to its handler as %j', async (encoded, decoded) => {
    expect(await (await remove(encoded)).json()).toEqual({ userId: decoded });
  });
});

describe('a method', () => {
  it('HEAD is among the methods of a path that offers GET', async () => {
    const response = await app.request('/document', { method: 'PUT' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST, HEAD']);
  });

  it('selects among the routes of one path', async () => {
    expect(await (await app.request('/document')).json()).toEqual({ a: 1 });
    expect(await (await app.request('/document', { method: 'POST' })).json()).toEqual({ b: 1 });
  });
});

describe('every response', () => {
  const requests: [string, string, number][] = [
    ['GET', '/document', 200],
    ['GET', '/nowhere', 404],
    ['PUT', '/document', 405],
    ['GET', '/%zz', 400],
    ['POST', '/fails/ours', 404],
    ['POST', '/fails/otherwise', 500],
  ];
  it.each(requests)(
    '%s %s carries the common headers, and is one log line without the path',
    async (method, path, status) => {
      const headers = { 'x-request-id': 'mine-1', authorization: 'hunter2' };
      const response = await app.request(`${path}?q=hunter2`, { method, headers });
      expect(response.status).toBe(status);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'application/json',
        'x-robots-tag': 'none',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-request-id': 'mine-1',
      });
      const finished = Array.from(logged().trim().split('\n'), (line): unknown => JSON.parse(line)).filter((line) =>
        JSON.stringify(line).includes('request finished'),
      );
      expect(finished).toEqual([
        expect.objectContaining({
          severity: status === 500 ? 'WARNING' : 'INFO',
          method,
          status,
          milliseconds: expect.any(Number),
          'logging.googleapis.com/labels': { execution_id: 'mine-1' },
        }),
      ]);
      expect(JSON.stringify(finished)).not.toContain('hunter2');
    },
  );

  it('is logged by the pattern of its route, not by the id in its path', async () => {
    await remove('auth0%7Cabc');
    expect(logged()).toContain('/v2/users/:userId/otp_email');
    expect(logged()).not.toContain('auth0');
  });
});

describe('the request id', () => {
  it.each(['a b', 'a\u00e9', '<script>', 'x'.repeat(65), ''])('is generated if the caller sends %j', async (id) => {
    const response = await app.request('/document', { headers: { 'x-request-id': id } });
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("is the platform's if the caller sends none", async () => {
    const response = await app.request('/document', { headers: { 'function-execution-id': 'abc123' } });
    expect(response.headers.get('x-request-id')).toBe('abc123');
  });
});

const thing: Route = { method: 'DELETE', path: '/thing', handler: (context) => context.json({ done: true }) };
const page = 'https://console.example';
const open = createApp({ routes: [thing], corsOrigins: [page, 'http://localhost:3000'] });
const closed = createApp({ routes: [thing] });

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

describe('with configured origins', () => {
  it.each(['/thing', '/nowhere'])(
    'a page of a listed origin gets the permitted methods and headers of %s',
    async (path) => {
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
    },
  );

  it.each([
    ['a response', 'DELETE', '/thing', 200],
    ['an error', 'DELETE', '/nowhere', 404],
    ['a method that is not offered', 'POST', '/thing', 405],
    ['a malformed path', 'DELETE', '/%zz', 400],
  ])('a page of a listed origin may read %s', async (_what, method, path, status) => {
    const response = await open.request(path, { method, headers: { origin: page } });
    expect(response.status).toBe(status);
    expect(response.headers.get('access-control-allow-origin')).toBe(page);
    expect(response.headers.get('access-control-expose-headers')).toContain('grpc-status');
    expect(response.headers.get('content-type')).toBe('application/json');
  });

  it.each(['https://evil.example', 'https://console.example.evil', 'http://console.example', 'null'])(
    'a page of %s is not permitted',
    async (origin) => {
      expect((await preflight(open, origin)).status).toBe(405);
      expect(corsHeaders(await preflight(open, origin))).toEqual([]);
      expect(corsHeaders(await open.request('/thing', { method: 'DELETE', headers: { origin } }))).toEqual([]);
    },
  );

  it('OPTIONS without a requested method is a method like any other', async () => {
    expect((await open.request('/thing', { method: 'OPTIONS', headers: { origin: page } })).status).toBe(405);
  });
});

it('without configured origins, no page may call', async () => {
  expect((await preflight(closed, page)).status).toBe(405);
  expect(corsHeaders(await closed.request('/thing', { method: 'DELETE', headers: { origin: page } }))).toEqual([]);
});

it.each([
  ['POST', 405],
  ['OPTIONS', 204],
] as const)('GET /openapi.json lists its methods for %s', async (method, status) => {
  const app = createApp({ routes: withOpenApi([], {}) });
  const response = await app.request('/openapi.json', { method });
  expect(response.status).toBe(status);
  expect(response.headers.get('allow')?.split(', ').toSorted()).toEqual(['GET', 'HEAD', 'OPTIONS']);
});
