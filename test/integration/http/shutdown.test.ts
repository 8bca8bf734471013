import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { serve } from '../../../shared/http/server.ts';
import { decorateStore, type Store } from '../../../shared/store/store.ts';
import type { Ended } from '../../../tools/program.ts';
import { identityJson } from '../../support/command.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { openConnection } from '../../support/http/rawHttp.ts';
import { serve as startServer } from '../../support/instances/commandInstance.ts';
import { type ReplacedPorts, testInstance } from '../../support/instances/testInstance.ts';
import { startFunction } from '../../support/processes/programs.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { countsOf, readDatabase } from '../../support/stores/database.ts';
import { openTestStore, setUpOnce, sqlite } from '../../support/stores/stores.ts';
import { watchedStore } from '../../support/stores/watchedStore.ts';

const PEOPLE = 1_000;
const file = {
  orgs: [organisation('O', { humanUsers: Array.from({ length: PEOPLE }, (_, index) => person(`P${index}`)) })],
};
/** Larger together than the buffers of a connection. */
const largeValues = Array.from({ length: 40 }, (_, index) => ({
  id: 'P',
  key: `${index}`,
  value: Buffer.alloc(300_000).toString('base64'),
}));

/** Calls end at once, and have this time to respond. */
const DRAIN_MS = 5_000;

const shutDown = z.looseObject({
  code: z.literal(14),
  details: z.tuple([
    z.strictObject({
      '@type': z.literal('type.googleapis.com/identity.v1.ImportProgress'),
      written: z.record(z.string(), z.number()),
      total: z.record(z.string(), z.number()),
      resumable: z.literal(true),
    }),
    z.looseObject({ reason: z.literal('SHUTTING_DOWN') }),
  ]),
});

/** Serves an instance. */
async function served(store: Store, replaced: ReplacedPorts) {
  const instance = await testInstance(store, 'test', replaced);
  const server = await serve({ app: instance.app, host: '127.0.0.1', port: 0, drainMs: DRAIN_MS });
  onTestFinished(async () => void (await server.close()));
  const post = (operation: string, body: object, accept = 'application/json') =>
    fetch(`${server.url}/admin/v1/${operation}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${instance.token}`, accept },
      body: JSON.stringify(body),
    });
  return { instance, server, post };
}

describe('a server that shuts down', () => {
  it.each(['application/json', 'application/x-ndjson'])(
    'ends an import, which reports its progress as %s',
    async (accept) => {
      const store = await openTestStore(sqlite);
      const started = Promise.withResolvers<void>();
      const watched = watchedStore(store, (writes) => {
        if (writes.some(({ key }) => key.collection === 'users')) started.resolve();
      });
      const { server, post } = await served(store, { store: watched });
      const answer = post('import', { data_orgs: file }, accept);
      await started.promise;
      expect(await server.close()).toBe(0);
      const response = await answer;
      const text = await response.text();
      const last: unknown = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '');
      const body = accept === 'application/json' ? last : z.object({ error: z.unknown() }).parse(last).error;
      expect(response.status).toBe(accept === 'application/json' ? 503 : 200);
      const [{ written, total }] = shutDown.parse(body).details;
      expect(total).toEqual({ org: 1, humanUsers: PEOPLE });
      expect(written.humanUsers).toBeLessThan(PEOPLE);
      expect(countsOf(await readDatabase(store), ['O'])).toEqual(written);
    },
  );

  it('ends an export that has not begun its response with 503', async () => {
    const store = await openTestStore(sqlite);
    const [started, ending] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = decorateStore(store, (inner) => ({
      snapshot: async () => {
        started.resolve();
        await ending.promise;
        return inner.snapshot();
      },
    }));
    const { server, post } = await served(store, { store: slow, limits: { responseBytes: 10_000_000 } });
    const answer = post('export', { response_output: true });
    await started.promise;
    const closing = server.close();
    await setTimeout(1);
    ending.resolve();
    const response = await answer;
    expect([response.status, await response.json()]).toMatchObject([503, { code: 14 }]);
    expect(await closing).toBe(0);
  });

  const exporting = setUpOnce(async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    await instance.import({
      data_orgs: { orgs: [organisation('O', { userMetadata: largeValues, humanUsers: [person('P')] })] },
    });
    return instance;
  });

  it.each(['1.0', '1.1'])('cuts a streamed export, so that its client of HTTP/%s gets an error', async (version) => {
    const instance = exporting();
    const server = await serve({ app: instance.app, host: '127.0.0.1', port: 0, drainMs: DRAIN_MS });
    onTestFinished(async () => void (await server.close()));
    const socket = await openConnection(server.url);
    const body = JSON.stringify({ response_output: true });
    const head = [`POST /admin/v1/export HTTP/${version}`, 'Host: a', `Authorization: Bearer ${instance.token}`];
    socket.write(`${[...head, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`);
    const received: Buffer[] = [];
    // The first bytes, without the others, for which the connection has no room.
    received.push(socket.read() ?? (await once(socket, 'readable').then(() => socket.read())));
    const closing = server.close();
    const reading = (async () => {
      for await (const chunk of socket) received.push(chunk);
    })();
    const error = await reading.catch((reason: unknown) => reason);
    const text = Buffer.concat(received).toString();
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    if (version === '1.0') expect(error).toMatchObject({ code: 'ECONNRESET' });
    else expect(text).not.toMatch(/\r\n0\r\n\r\n$/);
    expect(await closing).toBe(0);
  });
});

/** The programs that import into a database directory, whose calls end at once at SIGTERM. */
const programs = {
  'identity serve': async (directory: string) => {
    const running = await startServer(['--data', directory], [], env);
    return { ...running, url: running.ready[1] ?? '' };
  },
  'the function import': (directory: string) => startFunction('import', { ...env, DATA_DIR: directory }),
};
const env = { SHUTDOWN_SECONDS: String(DRAIN_MS / 1_000) };

describe.each(Object.entries(programs))('%s at SIGTERM', (_name, start) => {
  it('ends an import with its progress, and exits with 0', async () => {
    const { path } = await temporaryDirectory();
    const { token } = z.object({ token: z.string() }).parse(await identityJson(['init', '--data', path]));
    const running = await start(path);
    onTestFinished(async () => void (await running.stop('SIGKILL')));
    // Their passwords take half a minute or more to hash.
    const people = Array.from({ length: 1_000 }, (_, index) => person(`P${index}`, { password: 'Secret1!' }));
    const response = await fetch(`${running.url}/admin/v1/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' },
      body: JSON.stringify({ data_orgs: { orgs: [organisation('O', { humanUsers: people })] } }),
    });
    let text = '';
    let ended: Promise<Ended> | undefined;
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes('"created":{"org":1')) ended ??= running.stop('SIGTERM');
    }
    const { error } = z.object({ error: shutDown }).parse(JSON.parse(text.trimEnd().split('\n').at(-1) ?? ''));
    const [{ written }] = error.details;
    expect(written.org).toBe(1);
    expect(written.humanUsers ?? 0).toBeLessThan(people.length);
    expect(await ended).toMatchObject({ code: 0 });
  });
});
