import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuditEvent } from '../../shared/audit/auditEvent.ts';
import { generateToken } from '../../shared/auth/token.ts';
import { openStore, type StoreLocation } from '../../shared/store/openStore.ts';
import { type Running, startProgram } from '../../tools/program.ts';
import { changeTrail, eventsIn } from '../support/audit/storedTrail.ts';
import { identityJson } from '../support/command.ts';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { expectError, post, removeOtpEmail } from '../support/http/wire.ts';
import { testInstance } from '../support/instances/testInstance.ts';
import { identityProgram } from '../support/processes/programs.ts';
import { repetitions } from '../support/repetitions.ts';
import { readDatabase } from '../support/stores/database.ts';
import { createUser } from '../support/stores/documents.ts';
import { sqlite } from '../support/stores/stores.ts';

const people = Array.from({ length: 40 }, (_, index) => ({ ...person(`P${index}`), otpEmail: true }));
const KILLS = repetitions({ few: 6, many: 60 });
const CONNECTIONS = 32;
/** The responses before a kill. */
const [LEAST_ANSWERED, MOST_ANSWERED] = [30, 80];
/** The removals of a server: the responses before its kill, and on each connection one that is unread and one in flight. */
const MOST_REMOVED = MOST_ANSWERED + 2 * CONNECTIONS;
// More than the buffers between the server and a client that does not read.
const value = Buffer.alloc(370_000).toString('base64');
const userMetadata = people.map(({ userId }) => ({ id: userId, key: 'large', value }));

/** An embedded instance without a server. */
async function newInstance(fields: object) {
  const location = await sqlite.newLocation();
  if (location.kind !== 'sqlite') throw new Error('the embedded store has a directory');
  const store = await openStore(location);
  const instance = await testInstance(store);
  await instance.import({ data_orgs: { orgs: [organisation('O', { humanUsers: people, ...fields })] } });
  await store.close();
  return { location, directory: location.directory, token: instance.token };
}

/** Serves an instance whose files cannot grow above `blocks` of 512 bytes, which simulates a full disk. */
async function serve(directory: string, blocks = 1_000_000): Promise<Running & { url: string }> {
  const [command, script] = identityProgram;
  const program = [command, script, 'serve', '--data', directory, '--port', '0'];
  const args = ['-c', `ulimit -f ${blocks} && exec "$0" "$@"`, ...program];
  const env = { SHUTDOWN_SECONDS: '0', FIRESTORE_EMULATOR_HOST: undefined };
  const running = await startProgram('/bin/sh', args, /listening on (\S+)/, { env });
  onTestFinished(async () => void (await running.stop('SIGKILL')));
  return { ...running, url: running.ready[1] ?? '' };
}

/** Begins an export, and reads only the head of its response. */
async function beginExport(url: string, token: string) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const call = request(`${url}/admin/v1/export`, { method: 'POST', headers, agent: false });
  call.on('error', () => undefined);
  call.end('{"response_output":true,"with_otp":true}');
  const [response]: IncomingMessage[] = await once(call, 'response');
  if (response === undefined) throw new Error('no response');
  response.on('error', () => undefined);
  return { call, response: response.pause() };
}

async function exportEvents(directory: string): Promise<readonly AuditEvent[]> {
  return (await eventsIn(directory)).filter(({ event }) => event.startsWith('export.'));
}

const names = (events: readonly AuditEvent[]) => events.map(({ event, outcome }) => `${event} ${outcome}`);

describe.skipIf(process.platform === 'win32')('the audit trail of an export', () => {
  const endings: readonly (readonly [how: string, outcomes: RegExp | undefined, end: Ending])[] = [
    ['whose server is killed', undefined, ({ server }) => server.stop('SIGKILL')],
    ['whose server is stopped', /^(UNAVAILABLE|CANCELLED)$/, ({ server }) => server.stop('SIGTERM')],
    [
      'whose client leaves',
      /^CANCELLED$/,
      async ({ exporting, server, closed }) => {
        exporting.call.destroy();
        await closed;
        await server.stop('SIGTERM');
      },
    ],
    [
      'whose token is revoked',
      /^UNAUTHENTICATED$/,
      async ({ directory, userId, server, closed }) => {
        await identityJson(['pat', 'revoke', '--all', '--user', userId, '--data', directory]);
        await closed;
        await server.stop('SIGTERM');
      },
    ],
  ];

  it.each(endings)(
    'has its first event, and a last one unless no process could write it: %s',
    async (_how, outcome, end) => {
      const { directory, token } = await newInstance({ userMetadata });
      const server = await serve(directory);
      const exporting = await beginExport(server.url, token);
      const [started] = await exportEvents(directory);
      expect(started).toMatchObject({ event: 'export.started', outcome: 'started', remote: '127.0.0.1' });
      const closed = server.written('"route":"/admin/v1/export"');
      closed.catch(() => undefined);
      await end({ directory, userId: started?.userId ?? '', server, exporting, closed });
      const events = await exportEvents(directory);
      expect(events[0]).toEqual(started);
      if (outcome === undefined) expect(names(events)).toEqual(['export.started started']);
      else
        expect(events.slice(1)).toEqual([
          {
            ...started,
            time: expect.any(String),
            cursor: expect.any(String),
            event: 'export.finished',
            outcome: expect.stringMatching(outcome),
            counts: expect.any(Object),
          },
        ]);
      exporting.call.destroy();
    },
  );
});

/** An event that ends an export. */
type Ending = (call: {
  readonly directory: string;
  readonly userId: string;
  readonly server: Running;
  readonly exporting: Awaited<ReturnType<typeof beginExport>>;
  /** The server has logged the end of the request. */
  readonly closed: Promise<void>;
}) => Promise<unknown>;

async function databaseAt(location: StoreLocation) {
  const store = await openStore(location);
  try {
    return await readDatabase(store);
  } finally {
    await store.close();
  }
}

describe.skipIf(process.platform === 'win32')('an instance whose database cannot grow', () => {
  const BLOCKS = 4_000;

  it('exports, imports and removes nothing, reports the reason, rejects unknown callers as usual, and recovers with free space', async () => {
    const { location, directory, token } = await newInstance({});
    const store = await openStore(location);
    onTestFinished(() => store.close());
    // While the snapshot is read, the log grows at its end, which is behind the limit.
    const snapshot = await store.snapshot();
    const body = 'x'.repeat(500_000);
    for (let size = 0; size < BLOCKS * 512; size += body.length)
      await store.commit([createUser(`large ${size}`, { body })]);
    const [before, eventsBefore] = [await databaseAt(location), await eventsIn(directory)];
    const server = await serve(directory, BLOCKS);
    const instance = { url: server.url, token, database: undefined };
    for (const call of [
      () => post(instance, 'export', { response_output: true }),
      () => post(instance, 'import', { data_orgs: { orgs: [organisation('N')] } }),
      () => removeOtpEmail(instance, 'P0'),
    ]) {
      const { message } = expectError(await call(), 503, 14);
      expect(message).toMatch(/^the audit trail is not writable.*free disk space/);
    }
    expectError(await removeOtpEmail(instance, 'P0', generateToken()), 401, 16);
    expect(server.stderr()).toMatch(/"event":"otpEmail.removed".*"message":"audit failed"/);
    expect(await databaseAt(location)).toEqual(before);
    expect(await eventsIn(directory)).toEqual(eventsBefore);

    await snapshot[Symbol.asyncDispose]();
    changeTrail(directory, 'PRAGMA wal_checkpoint(TRUNCATE)');
    expect((await removeOtpEmail(instance, 'P0')).status).toBe(200);
    expect((await post(instance, 'export', { org_ids: ['O'], response_output: true })).status).toBe(200);
    expect(names(await exportEvents(directory))).toEqual(['export.started started', 'export.finished ok']);
    await server.stop('SIGTERM');
  });
});

/**
 * Removes factors over some connections, one after the other, until the server is killed at a random moment, or after so
 * many responses that a fast machine leaves users for the next kill.
 */
async function removeUntilKilled({ server, token, left }: KilledRun): Promise<readonly string[]> {
  const waiting = [...left];
  const answered: string[] = [];
  const kill = () => void server.stop('SIGKILL');
  const connection = async () => {
    for (let userId = waiting.pop(); userId !== undefined; userId = waiting.pop()) {
      const { status } = await removeOtpEmail({ url: server.url, token, database: undefined }, userId);
      expect(status).toBe(200);
      const count = answered.push(userId);
      if (count === LEAST_ANSWERED) setTimeout(kill, Math.random() * 10);
      if (count === MOST_ANSWERED) kill();
    }
  };
  await Promise.allSettled(Array.from({ length: CONNECTIONS }, connection));
  await server.stop('SIGKILL');
  return answered;
}

interface KilledRun {
  readonly server: Running & { readonly url: string };
  readonly token: string;
  /** The users who have the factor. */
  readonly left: ReadonlySet<string>;
}

describe('an instance that is killed while it removes', () => {
  it('has exactly as many events as effects, including all that it has reported', async () => {
    const humanUsers = Array.from({ length: KILLS * MOST_REMOVED + 1 }, (_, index) => ({
      ...person(`K${index}`),
      otpEmail: true,
    }));
    const { location, directory, token } = await newInstance({ humanUsers });
    const left = new Set(humanUsers.map(({ userId }) => userId));
    for (let kills = 0; kills < KILLS; kills++) {
      const answered = await removeUntilKilled({ server: await serve(directory), token, left });
      const users = (await databaseAt(location)).get('users') ?? [];
      const removed = users.filter(({ orgId, otpEmail }) => orgId === 'O' && otpEmail !== true).map(({ id }) => id);
      const events = (await eventsIn(directory)).filter(({ event }) => event === 'otpEmail.removed');
      expect(events.map(({ target }) => target).toSorted()).toEqual(removed.toSorted());
      expect(answered.length).toBeGreaterThanOrEqual(LEAST_ANSWERED);
      expect(removed).toEqual(expect.arrayContaining([...answered]));
      for (const id of removed) left.delete(id);
    }
    expect(left.size).toBeGreaterThan(0);
  });
});
