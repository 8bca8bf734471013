import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import type { Row } from './row.ts';
import { runTable } from './runTable.ts';

const row = (name: string): Row => ({
  name,
  origin: 'test',
  feature: 'documented',
  steps: [
    { request: { method: 'GET', path: `/${name}` }, expected: { status: 200, body: { kind: 'equals', json: {} } } },
  ],
});
const table = [row('before'), row('deadly'), row('after'), row('last')];

/** Starts a server that ends at `/deadly`, and comes back after a while or never. */
async function mortal(deadMs: number | undefined): Promise<string> {
  const server = createServer(({ url }, response) => {
    if (url !== '/deadly') {
      response.end('{}');
      return;
    }
    server.close();
    server.closeAllConnections();
    if (deadMs !== undefined) setTimeout(() => server.listen(port, '127.0.0.1'), deadMs);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the system gave no port');
  const { port } = address;
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${port}`;
}

async function kinds(deadMs: number | undefined, restartMs: number) {
  const target = { baseUrl: await mortal(deadMs), tokens: { owner: 'any' }, spent: [] };
  const told: string[] = [];
  const onResult = ({ row: { name } }: { row: Row }) => void told.push(name);
  const { results, halted } = await runTable(table, target, { restartMs, onResult });
  return { kinds: results.map(({ outcome }) => outcome.kind), halted, told };
}

it('goes on after a row that ended the server, as soon as the server is back', async () => {
  expect(await kinds(400, 10_000)).toEqual({
    kinds: ['passed', 'lost', 'passed', 'passed'],
    halted: undefined,
    told: ['before', 'deadly', 'after', 'last'],
  });
});

it('counts the rows as not run that follow one after which the server stays away', async () => {
  expect(await kinds(undefined, 300)).toEqual({
    kinds: ['passed', 'lost', 'not run', 'not run'],
    halted: 'the server did not answer again within 0.3 s',
    told: ['before', 'deadly'],
  });
});
