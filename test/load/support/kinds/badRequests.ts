import { setTimeout } from 'node:timers/promises';
import { badBodies } from '../../../acceptance/badRequests/bodies.ts';
import { badDocuments } from '../../../acceptance/badRequests/documents.ts';
import { badExports } from '../../../acceptance/badRequests/exports.ts';
import { badImports } from '../../../acceptance/badRequests/imports.ts';
import { badRoutes } from '../../../acceptance/badRequests/routes.ts';
import type { LoadRequest } from '../client.ts';
import { judge, type Kind } from '../kind.ts';
import { plainImport } from '../population.ts';
import type { System } from '../system.ts';

interface BadLoad extends LoadRequest {
  readonly status: number;
}

const json = { 'content-type': 'application/json' };
const post = (operation: 'import' | 'export', more: Partial<BadLoad> & { status: number }): BadLoad => ({
  method: 'POST',
  path: `/admin/v1/${operation}`,
  headers: json,
  ...more,
});

/** Tokens that are none. */
const withoutToken: readonly BadLoad[] = [
  post('import', { token: 'idpat_forged', body: plainImport, status: 401 }),
  post('import', { token: undefined, body: plainImport, status: 401 }),
  post('export', { token: 'x'.repeat(5_000), body: '{"response_output":true}', status: 401 }),
  { method: 'DELETE', path: '/v2/users/plain/otp_email', token: 'idpat_forged', status: 401 },
];

/** Bodies above their limits: one that is sent whole, and one that only says so. */
const tooLarge: readonly BadLoad[] = [
  post('export', { body: `{"timeout":"${'1'.repeat(5_000_000)}s"}`, status: 413 }),
  post('import', {
    headers: { ...json, 'content-length': '2000000000' },
    body: { [Symbol.asyncIterator]: endless },
    status: 413,
  }),
];

async function* endless(): AsyncGenerator<string> {
  for (;;) {
    yield ' '.repeat(1_024);
    await setTimeout(100);
  }
}

/** Requests that must be rejected. */
export function badRequests(system: System): readonly Kind[] {
  const rows: BadLoad[] = [badBodies, badDocuments, badExports, badImports, badRoutes].flat().flatMap((row) => {
    const { method = 'POST', path, status, body, headers } = row;
    return typeof body === 'function' ? [] : [{ method, path, status, body, headers: { ...json, ...headers } }];
  });
  return [
    createKind('bad request', rows, { workers: 4, everyMs: 400 }),
    createKind('bad token', withoutToken, { workers: 2, everyMs: 400 }),
    createKind('body that is too large', tooLarge, { workers: 1, everyMs: 1_000 }),
  ];

  function createKind(name: string, list: readonly BadLoad[], pace: { workers: number; everyMs: number }): Kind {
    const next = shuffledForever(list, system.random);
    return {
      name,
      ...pace,
      asked: [...new Set(list.map(({ status }) => String(status)))],
      send: async () => {
        const row = next();
        const placed = 'token' in row ? undefined : placesFor(row.path)?.begin();
        placed?.take();
        try {
          const { status, ...request } = row;
          const answer = await system.client.send({ token: system.token, ...request });
          return judge(answer, status, placed === undefined ? {} : { call: placed });
        } finally {
          placed?.end();
        }
      },
    };
  }

  function placesFor(path: string) {
    if (path === '/admin/v1/import') return system.imports;
    return path === '/admin/v1/export' ? system.exports : undefined;
  }
}

/** Returns what takes all rows in a random order, again and again. */
function shuffledForever<Row>(list: readonly Row[], random: () => number): () => Row {
  const rest: Row[] = [];
  return () => {
    if (rest.length === 0) {
      const drawn = list.map((row) => ({ row, order: random() })).sort((a, b) => a.order - b.order);
      rest.push(...drawn.map(({ row }) => row));
    }
    const row = rest.pop();
    if (row === undefined) throw new Error('there are no rows');
    return row;
  };
}
