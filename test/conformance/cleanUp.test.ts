import { expect, it } from 'vitest';
import { cleanUp } from './cleanUp.ts';
import type { Ask, OwnRequest } from './owner.ts';

const limit = { limitMs: 200 };

/** A server that deletes organisations by one path, and knows no other. */
function server(path: RegExp, answer: (request: OwnRequest) => [status: number, body: object]) {
  const asked: string[] = [];
  const ask: Ask = async (request) => {
    asked.push(`${request.path} ${request.orgId ?? ''}`.trim());
    const known = request.method === 'DELETE' && path.test(request.path);
    const [status, body] = known ? answer(request) : [404, { code: 5, message: 'Not Found' }];
    return { status, headers: {}, text: JSON.stringify(body) };
  };
  return { ask, asked };
}

it.each([
  [/^\/v2\/organizations\//, '/v2/organizations/b'],
  [/^\/v2beta\/organizations\//, '/v2beta/organizations/b'],
  [/^\/admin\/v1\/orgs\//, '/admin/v1/orgs/b'],
  [/^\/management\/v1\/orgs\/me$/, '/management/v1/orgs/me b'],
])('finds the request that the server has, and stays with it: %s', async (path, last) => {
  const { ask, asked } = server(path, () => [200, { details: {} }]);
  expect(await cleanUp(ask, ['a', 'b'], limit)).toEqual({ removed: ['a', 'b'], left: [], why: undefined });
  expect(asked.at(-1)).toBe(last);
  expect(asked.filter((request) => /\bb$/.test(request))).toEqual([last]);
});

it('waits for an organisation that the server does not know yet, and counts one that never comes as gone', async () => {
  const unknown: [number, object] = [403, { code: 7, message: "Organisation doesn't exist (AUTH-Bs7Ds)" }];
  let times = 0;
  const { ask } = server(/^\/management/, ({ orgId }) => (orgId === 'late' && ++times > 2 ? [200, {}] : unknown));
  expect(await cleanUp(ask, ['late', 'never'], limit)).toEqual({ removed: ['late'], left: [], why: undefined });
});

it('stops waiting when it is told to', async () => {
  const { ask } = server(/^\/management/, () => [403, { message: "Organisation doesn't exist (AUTH-Bs7Ds)" }]);
  const start = performance.now();
  await cleanUp(ask, ['a'], { limitMs: 60_000, signal: AbortSignal.timeout(100) });
  expect(performance.now() - start).toBeLessThan(30_000);
});

it('says why organisations are left', async () => {
  const { ask } = server(/^\/admin/, ({ path }) =>
    path.endsWith('/b') ? [200, {}] : [400, { message: 'it is the default' }],
  );
  expect(await cleanUp(ask, ['a', 'b'], limit)).toEqual({ removed: ['b'], left: ['a'], why: '400 it is the default' });
  const gone: Ask = () => Promise.reject(new Error('connect ECONNREFUSED'));
  expect(await cleanUp(gone, ['a'], limit)).toMatchObject({ left: ['a'], why: 'no response: connect ECONNREFUSED' });
  const none = server(/^$/, () => [200, {}]);
  expect(await cleanUp(none.ask, ['a', 'b'], limit)).toMatchObject({
    left: ['a', 'b'],
    why: 'the server has no request that removes an organisation',
  });
  expect(none.asked).toHaveLength(4);
});

it('asks for nothing where nothing was created', async () => {
  const { ask, asked } = server(/./, () => [200, {}]);
  expect(await cleanUp(ask, [], limit)).toEqual({ removed: [], left: [], why: undefined });
  expect(asked).toEqual([]);
});
