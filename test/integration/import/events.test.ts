import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { importEndpoint } from '../../../functions/import/contract.ts';
import { initialise } from '../../../shared/accounts/initialise.ts';
import { revokeTokens } from '../../../shared/accounts/personalAccessTokens.ts';
import { serve } from '../../../shared/http/server.ts';
import { openApiDocument } from '../../../shared/openapi/openApiDocument.ts';
import { organisationKey } from '../../../shared/store/documentKeys.ts';
import { decorateStore, type Store } from '../../../shared/store/store.ts';
import { memoryTrail } from '../../support/audit/memoryTrail.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { importReport, servedInstance, type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';
import { watchedStore } from '../../support/stores/watchedStore.ts';

const counts = z.record(z.string(), z.number());
const progress = z.strictObject({
  event: z.literal('progress'),
  phase: z.int(),
  phases: z.literal(5),
  records: z.record(z.string(), counts),
  total: counts,
  waitingFor: z.strictObject({ operation: z.string(), caller: z.string(), since: z.iso.datetime() }).optional(),
  exceedsTimeout: z.strictObject({ secondsNeeded: z.int(), secondsLeft: z.int() }).optional(),
});
const errorEvent = z.strictObject({
  event: z.literal('error'),
  error: z.looseObject({ code: z.number(), message: z.string(), details: z.array(z.unknown()).optional() }),
});
const resultEvent = z.strictObject({ event: z.literal('result'), response: importReport });

const people = (count: number) => Array.from({ length: count }, (_, index) => person(`U${index}`));
const file = { orgs: [organisation('A', { humanUsers: people(2_000) })] };

function request({ app, token }: TestInstance, body: unknown, headers: Record<string, string> = {}) {
  const all = { authorization: `Bearer ${token}`, accept: 'application/x-ndjson', ...headers };
  return app.request('/admin/v1/import', { method: 'POST', headers: all, body: JSON.stringify(body) });
}

async function importWithEvents(instance: TestInstance, body: unknown) {
  const response = await request(instance, body);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
  const lines = (await response.text()).split('\n');
  expect(lines.pop()).toBe('');
  const last: unknown = JSON.parse(lines.pop() ?? '');
  return { events: lines.map((line) => progress.parse(JSON.parse(line))), last };
}

describe('an import whose client accepts events', () => {
  it('reports each phase, and on its last line the usual response', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const { events, last } = await importWithEvents(instance, { data_orgs: file });
    expect(events[0]).toEqual({
      event: 'progress',
      phase: 1,
      phases: 5,
      records: {},
      total: { org: 1, humanUsers: 2_000 },
    });
    expect([...new Set(events.map(({ phase }) => phase))]).toEqual([1, 2, 3, 4, 5]);
    expect(events.at(-1)?.records).toEqual({ created: { org: 1, humanUsers: 2_000 } });
    const { response } = resultEvent.parse(last);
    expect(response.success.orgs?.[0]?.humanUserIds).toHaveLength(2_000);
    const plain = await instance.import({ data_orgs: file });
    const { last: again } = await importWithEvents(instance, { data_orgs: file });
    expect(resultEvent.parse(again).response).toEqual(plain);
  });

  it('reports progress about once a second while a phase lasts', async () => {
    const store = await openTestStore(sqlite);
    let commits = 0;
    const slow = watchedStore(store, async () => {
      if (++commits === 12) await new Promise((resolve) => setTimeout(resolve, 2_500));
    });
    const instance = await testInstance(slow);
    commits = 0;
    const started = performance.now();
    const { events, last } = await importWithEvents(instance, {
      data_orgs: { orgs: [organisation('A', { humanUsers: people(6_000) })] },
    });
    const seconds = (performance.now() - started) / 1_000;
    expect(resultEvent.parse(last).response.summary.created.humanUsers).toBe(6_000);
    const between = events.length - 5;
    expect(between).toBeGreaterThanOrEqual(2);
    expect(between).toBeLessThanOrEqual(seconds);
  });

  it.each([
    // After 101 of 401 records and a tenth of a minute, or ten of them.
    ['states that its timeout will interrupt it', '60s', 50, { secondsNeeded: 149, secondsLeft: 10 }],
    ['states no excess if the time suffices', '10m', 50, undefined],
    ['states no excess before its speed is known', '60s', 2, undefined],
  ])('%s', async (_what, timeout, seconds, excess) => {
    const store = await openTestStore(sqlite);
    const initialised = await initialise(store, { name: 'test' }, 86_400_000, new Date());
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    let commits = 0;
    const slow = watchedStore(store, () => void (++commits === 2 && vi.advanceTimersByTime(seconds * 1_000)));
    const userMetadata = Array.from({ length: 300 }, (_, index) => ({
      userId: 'U0',
      key: `key${index}`,
      value: 'YQ==',
    }));
    const { events } = await importWithEvents(servedInstance(slow, initialised), {
      timeout,
      data_orgs: { orgs: [organisation('A', { humanUsers: people(100), userMetadata })] },
    });
    const { records, exceedsTimeout } = events.find(({ phase }) => phase === 4) ?? {};
    expect(records).toEqual({ created: { org: 1, humanUsers: 100 } });
    expect(exceedsTimeout).toEqual(excess);
    expect(events.at(-1)?.exceedsTimeout).toBeUndefined();
  });

  describe('whose new records take a minute each at the rate that the database recommends', () => {
    const slow = async () =>
      testInstance(
        decorateStore(await openTestStore(sqlite), ({ advice }) => ({
          advice: () => ({ ...advice(), creationMs: (documents) => documents * 60_000 }),
        })),
      );
    const three = { orgs: [organisation('A', { humanUsers: people(2) })] };

    it('states before the first write that its timeout will interrupt it', async () => {
      const { events } = await importWithEvents(await slow(), { timeout: '90s', data_orgs: three });
      const [{ records, exceedsTimeout } = {}] = events;
      expect(records).toEqual({});
      expect(exceedsTimeout?.secondsNeeded).toBe(180);
      expect(exceedsTimeout?.secondsLeft).toBeLessThanOrEqual(90);
      const { events: longer } = await importWithEvents(await slow(), { timeout: '4m', data_orgs: three });
      expect(longer[0]?.exceedsTimeout).toBeUndefined();
    });

    it('warns in a dry run', async () => {
      const warned = async (timeout: string) => {
        const { summary } = await (await slow()).import({ timeout, dry_run: true, data_orgs: three });
        return summary.warnings.filter(({ reason }) => reason === 'timeout_expected');
      };
      expect(await warned('90s')).toEqual([
        { type: 'request', reason: 'timeout_expected', message: expect.stringContaining('new records need 3m at') },
      ]);
      expect(await warned('4m')).toEqual([]);
    });
  });

  /** Sends an import to an instance on which another operation runs, and reads its first event. */
  async function waitingImport() {
    const store = await openTestStore(sqlite);
    const instance = await testInstance(store);
    const { signal } = new AbortController();
    const other = await store.lock.take({ mode: 'alone', operation: 'rekey', caller: 'root', signal });
    const response = await request(instance, { data_orgs: file });
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    return { store, instance, other, reader, value };
  }

  it('reports that it waits for another operation, and does not write before that has ended', async () => {
    const { store, other, reader, value } = await waitingImport();
    expect(progress.parse(JSON.parse(Buffer.from(value ?? []).toString())).waitingFor).toEqual({
      operation: 'rekey',
      caller: 'root',
      since: expect.any(String),
    });
    expect(await store.getMany([organisationKey('A')])).toEqual([undefined]);
    await other[Symbol.asyncDispose]();
    for (let ended = false; !ended; ) ended = (await reader?.read())?.done ?? true;
    expect(await store.getMany([organisationKey('A')], ['orgId'])).toMatchObject([{ orgId: 'A' }]);
  });

  it('ends if its token is revoked while it waits, and writes nothing', async () => {
    const { store, instance, other, reader } = await waitingImport();
    expect(await revokeTokens(store, instance.userId)).toBe(1);
    await other[Symbol.asyncDispose]();
    const { value } = (await reader?.read()) ?? {};
    const { error } = errorEvent.parse(JSON.parse(Buffer.from(value ?? []).toString()));
    expect(error).toMatchObject({ code: 16, message: 'Errors.Token.Invalid (AUTH-7fs1e)' });
    expect(await store.getMany([organisationKey('A')])).toEqual([undefined]);
  });

  /** Sends an import whose timeout expires while it waits for another operation. */
  async function expiredImport(accept: string): Promise<Response> {
    const store = await openTestStore(sqlite);
    const instance = await testInstance(store);
    const { signal } = new AbortController();
    await using _other = await store.lock.take({ mode: 'alone', operation: 'rekey', caller: 'root', signal });
    // The timeout expires as soon as the wait begins.
    const expire = () => void vi.advanceTimersByTime(60_000);
    const lock: Store['lock'] = { ...store.lock, take: (taken) => store.lock.take({ ...taken, onWait: expire }) };
    const { app } = servedInstance(
      decorateStore(store, () => ({ lock })),
      instance,
    );
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    return await request({ ...instance, app }, { timeout: '60s', data_orgs: file }, { accept });
  }

  it('is 503 with the holder of the lock at its timeout', async () => {
    const response = await expiredImport('application/json');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30']);
    expect(await response.json()).toMatchObject({
      code: 14,
      message: expect.stringMatching(
        /^rekey, which root began at .*Z, must end before this call can begin: retry the request later$/,
      ),
    });
  });

  it('states in its last event when to retry, which the header of another response would', async () => {
    const response = await expiredImport('application/x-ndjson');
    const last = (await response.text()).trim().split('\n').at(-1) ?? '';
    const { error } = errorEvent.parse(JSON.parse(last));
    const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '30s' };
    expect(error.details).toMatchObject([expect.anything(), retry, { reason: 'INSTANCE_BUSY' }]);
  });

  it('reports an error after the first event on its last line, with the progress', async () => {
    const store = await openTestStore(sqlite);
    // The timeout expires once the first commit is done.
    const expiring = watchedStore(store, () => void vi.advanceTimersByTime(60_000));
    const initialised = await initialise(store, { name: 'test' }, 86_400_000, new Date());
    const { audit, events: trail } = memoryTrail();
    const instance = servedInstance(expiring, initialised, { audit });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { events, last } = await importWithEvents(instance, { timeout: '60s', data_orgs: file });
    expect(events.length).toBeGreaterThanOrEqual(1);
    const { error } = errorEvent.parse(last);
    expect(error).toMatchObject({ code: 4, details: [{ resumable: true, total: { org: 1, humanUsers: 2_000 } }] });
    expect(trail.map(({ event, outcome }) => [event, outcome])).toEqual([
      ['import.started', 'started'],
      ['import.finished', 'DEADLINE_EXCEEDED'],
    ]);
  });

  it.each([
    ['a wrong token', { authorization: 'Bearer wrong' }, { data_orgs: file }, 401],
    ['an invalid request', {}, { data_orgs: file, on_conflict: 'ask' }, 400],
    ['an invalid file', {}, { data_orgs: { orgs: [{ orgId: 7 }] } }, 400],
    ['no source', {}, {}, 400],
  ])('gets a status and a plain body for %s', async (_what, headers, body, status) => {
    const response = await request(await testInstance(await openTestStore(sqlite)), body, headers);
    expect([response.status, response.headers.get('content-type')]).toEqual([status, 'application/json']);
    expect(z.looseObject({ message: z.string() }).parse(await response.json())).toBeDefined();
  });
});

describe('the media type of an import response', () => {
  it.each([
    ['application/json', 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['application/json, application/x-ndjson;q=0.5', 'application/json'],
    ['application/x-ndjson;q=0', 'application/json'],
    ['application/json;q=0.5, application/x-ndjson', 'application/x-ndjson'],
    ['application/x-ndjson, */*', 'application/x-ndjson'],
  ])('for %s is %s', async (accept, type) => {
    const instance = await testInstance(await openTestStore(sqlite));
    const response = await request(instance, { data_orgs: { orgs: [] } }, { accept });
    expect(response.headers.get('content-type')).toBe(type);
    await response.text();
  });

  it('has a schema in the OpenAPI document', () => {
    const { paths, components } = openApiDocument([importEndpoint]);
    const content = paths['/admin/v1/import']?.post?.responses['200']?.content;
    expect(Object.keys(content ?? {})).toEqual(['application/json', 'application/x-ndjson']);
    expect(components.schemas.ImportEvent).toBeDefined();
  });
});

describe('a response of events', () => {
  it('stays within the limit of responses, and counts the omitted entries', async () => {
    const instance = await testInstance(await openTestStore(sqlite), 'test', { limits: { responseBytes: 20_000 } });
    const many = { orgs: [organisation('A', { humanUsers: people(8_000) })] };
    const response = await request(instance, { data_orgs: many });
    const text = await response.text();
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(20_000);
    const last = resultEvent.parse(JSON.parse(text.trimEnd().split('\n').at(-1) ?? ''));
    expect(last.response.summary).toMatchObject({ idsOmitted: true, created: { humanUsers: 8_000 } });
  });

  it('ends the import when its client disconnects', async () => {
    const store = await openTestStore(sqlite);
    const initialised = await initialise(store, { name: 'test' }, 86_400_000, new Date());
    const ended = Promise.withResolvers<string>();
    const { audit } = memoryTrail(async ({ event, outcome }) => {
      if (event === 'import.finished') ended.resolve(outcome);
    });
    const slow = watchedStore(store, () => new Promise((resolve) => setTimeout(resolve, 50)));
    const { app, token } = servedInstance(slow, initialised, { audit });
    const server = await serve({ app, host: '127.0.0.1', port: 0 });
    onTestFinished(async () => {
      await server.close();
    });
    const client = new AbortController();
    const response = await fetch(`${server.url}/admin/v1/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' },
      body: JSON.stringify({ data_orgs: { orgs: [organisation('A', { humanUsers: people(20_000) })] } }),
      signal: client.signal,
    });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(
      progress.parse(
        JSON.parse(
          Buffer.from(first?.value ?? [])
            .toString()
            .split('\n')[0] ?? '',
        ),
      ).phase,
    ).toBe(1);
    client.abort();
    expect(await ended.promise).toBe('CANCELLED');
  });
});
