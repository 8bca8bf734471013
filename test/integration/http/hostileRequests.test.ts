import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createApp } from '../../../shared/http/app.ts';
import { createHttpServer, serverUrl } from '../../../shared/http/server.ts';
import { configureLog } from '../../../shared/log.ts';
import { type Running, run } from '../../../tools/program.ts';
import { identityJson } from '../../support/command.ts';
import { openConnection, type RawAnswer, readAnswer } from '../../support/http/rawHttp.ts';
import { serve } from '../../support/instances/commandInstance.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { bodies } from './hostileRequests/bodies.ts';
import { type HostileRequest, post } from './hostileRequests/hostileRequest.ts';
import { syntax } from './hostileRequests/syntax.ts';
import { callers, methods, paths } from './hostileRequests/targets.ts';

const groups = [
  { group: 'syntax', rows: syntax },
  { group: 'paths', rows: paths },
  { group: 'callers', rows: callers },
  { group: 'methods', rows: methods },
  { group: 'bodies', rows: bodies },
];
/** As in the cloud. */
const maxRequestBytes = 32_000_000;
const allowedGrowth = 100_000_000;
const errorBody = z.strictObject({
  code: z.int(),
  message: z.string().min(1).max(500),
  details: z.array(z.looseObject({ '@type': z.string() })).optional(),
});

let serving: Running;
let url = '';
let token = '';
let memoryBefore = 0;
let filesBefore = 0;
beforeAll(async () => {
  const directory = await temporaryDirectory();
  const database = ['--data', directory.path];
  token = z.looseObject({ token: z.string() }).parse(await identityJson(['init', ...database])).token;
  serving = await serve(database, [], { MAX_REQUEST_BYTES: String(maxRequestBytes) });
  url = serving.ready[1] ?? '';
  return () => directory.remove();
});

const memoryOf = async ({ pid }: Running) => Number((await run('ps', ['-o', 'rss=', '-p', String(pid)])).stdout) * 1024;

/** Open files and connections, if the system reports them. */
const filesOf = async ({ pid }: Running) => (await readdir(`/proc/${pid}/fd`).catch(() => [])).length;

async function answerTo({ bytes, ends }: HostileRequest, baseUrl = url): Promise<RawAnswer> {
  const socket = await openConnection(baseUrl);
  try {
    const sent = typeof bytes === 'string' ? bytes : bytes(token);
    if (ends) socket.end(sent);
    else socket.write(sent);
    return await readAnswer(socket);
  } finally {
    socket.destroy();
  }
}

const well: HostileRequest = {
  name: 'a sound request',
  bytes: (owner) => `GET /nowhere HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${owner}\r\n\r\n`,
  status: 404,
  code: 5,
};

/** As large as an import may be, so that the process reaches its memory's size beforehand. */
const largest: HostileRequest = {
  name: 'a sound import',
  bytes: (owner) => {
    const body = '{"data_orgs":{"orgs":[]}}'.padEnd(maxRequestBytes);
    return post('/admin/v1/import', [`Content-Length: ${body.length}`], body)(owner);
  },
  status: 200,
  code: 0,
};

describe('a server that receives malformed requests', () => {
  beforeAll(async () => {
    for (let i = 0; i < 50; i += 1) await answerTo(well);
    // Send the largest requests once before, so that their garbage counts as earlier memory.
    for (const row of bodies) await answerTo(row);
    expect((await answerTo(largest)).status).toBe(200);
    memoryBefore = await memoryOf(serving);
    expect(memoryBefore).toBeGreaterThan(10_000_000);
    filesBefore = await filesOf(serving);
  });

  it('receives at least sixty kinds of them', () => {
    const names = groups.flatMap(({ rows }) => rows.map(({ name }) => name));
    expect(names.length).toBeGreaterThanOrEqual(60);
    expect(new Set(names).size).toBe(names.length);
  });

  describe.each(groups)('$group', ({ rows }) => {
    it.each(rows)('responds to $name with $status and the error body', async (row) => {
      const { status, headers, body } = await answerTo(row);
      expect({ status, body }, body).toMatchObject({ status: row.status });
      expect(errorBody.parse(JSON.parse(body)).code).toBe(row.code);
      expect(headers.get('content-type')).toBe('application/json');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-request-id')).toMatch(/./);
      const allowed = ['POST', 'DELETE'].filter((method) => row.name !== `the method ${method}`).join(', ');
      expect(headers.get('allow')).toBe(row.status === 405 && row.name !== 'the method CONNECT' ? allowed : null);
    });
  });

  it('responds to HEAD with the status alone', async () => {
    const response = await fetch(`${url}/admin/v1/export`, { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([405, '']);
  });

  it('still responds, without more memory', async () => {
    expect((await answerTo(well)).status).toBe(404);
    const grown = (await memoryOf(serving)) - memoryBefore;
    expect(grown).toBeLessThan(allowedGrowth);
  });

  it('keeps no connection and no file open', async () => {
    await expect.poll(() => filesOf(serving)).toBeLessThanOrEqual(filesBefore);
  });
});

it('a stopped server leaves no listener behind, of its own or of the process', async () => {
  configureLog('silent');
  const { server, drain } = createHttpServer(createApp({ routes: [] }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const listeners = () =>
    [server, process].flatMap((emitter) => emitter.eventNames().map((name) => [name, emitter.listenerCount(name)]));
  const before = listeners();
  for (const row of [...syntax, ...callers, ...methods]) await answerTo(row, serverUrl(server));
  expect(listeners()).toEqual(before);
  await expect.poll(() => promisify(server.getConnections.bind(server))()).toBe(0);
  expect(await drain(0)).toBe(0);
});

describe('the server after all these requests', () => {
  it('ends at once, with nothing cut and without a warning of listeners', async () => {
    const { code, stderr } = await serving.stop('SIGTERM');
    expect(code).toBe(0);
    expect(stderr).not.toMatch(/Warning:|uncaught|unhandled/i);
  });
});

afterAll(async () => {
  await serving.stop('SIGKILL');
});
