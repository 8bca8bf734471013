import { describe, expect, it } from 'vitest';
import { decorateStore, type Store } from '../../../shared/store/store.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { errorInfo } from '../../support/http/errorInfo.ts';
import { servedInstance, type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const LIMIT = 2;

const file = (orgId: string, more: object = {}) => ({
  data_orgs: { orgs: [organisation(orgId, { humanUsers: [person(`${orgId} person`)] })] },
  ...more,
});
const everything = { response_output: true };

/** An instance whose imports and exports, once they have begun, wait in the database until the test releases them. */
async function gatedInstance() {
  const gate = Promise.withResolvers<void>();
  let entered = Promise.withResolvers<void>();
  const wait = async () => {
    entered.resolve();
    await gate.promise;
  };
  const gated = (store: Store): Partial<Store> => ({
    snapshot: async () => {
      await wait();
      return store.snapshot();
    },
    commit: async (writes) => {
      await wait();
      return store.commit(writes);
    },
    transaction: async (work, until) => {
      await wait();
      return store.transaction(work, until);
    },
  });
  const store = await openTestStore(sqlite);
  const limits = { concurrentTransfers: LIMIT };
  const instance = servedInstance(decorateStore(store, gated), await testInstance(store), { limits });
  /** Sends a request; resolves when it has begun to use the database. Its outcome is in an array, not to be awaited here. */
  const begin = async (operation: 'import' | 'export', body: unknown) => {
    entered = Promise.withResolvers();
    const outcome = instance.attempt(operation, body);
    await Promise.race([entered.promise, outcome.then(({ text }) => expect.fail(`it has ended: ${text}`))]);
    return [outcome] as const;
  };
  /** Resolves when the next call uses the database. */
  const next = () => {
    entered = Promise.withResolvers();
    return entered.promise;
  };
  return { store, instance, begin, next, open: () => gate.resolve() };
}

const post = ({ app, token }: TestInstance, path: string, body: ReadableStream | string, caller = token) => {
  const headers = { authorization: `Bearer ${caller}`, 'content-type': 'application/json' };
  return app.request(path, { method: 'POST', body, headers, duplex: 'half' });
};

/** A body that never ends; `read` resolves when the server reads it. */
function endlessBody() {
  const { promise: read, resolve } = Promise.withResolvers<void>();
  return { read, body: new ReadableStream({ pull: () => resolve() }, { highWaterMark: 0 }) };
}

describe('admission', () => {
  it.each([
    ['import', (index: number) => file(`o${index}`)],
    ['import', (index: number) => file(`o${index}`, { dry_run: true })],
    ['export', () => everything],
  ] as const)('of a further %s is refused until one has ended (%#)', async (operation, body) => {
    const { instance, begin, open } = await gatedInstance();
    const [first] = await begin(operation, body(1));
    const [second] = await begin(operation, body(2));
    const refused = await post(instance, `/admin/v1/${operation}`, JSON.stringify(body(3)));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect(await refused.json()).toEqual({
      code: 8,
      message: `2 ${operation}s are running, which is the limit: retry the request later`,
      details: [errorInfo('TOO_MANY_CALLS', { kind: `${operation}s`, limit: '2' })],
    });
    open();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    expect((await instance.attempt(operation, body(3))).status).toBe(200);
  });

  it('counts imports and exports separately, and no removals', async () => {
    const { instance, begin, open } = await gatedInstance();
    const imports = [...(await begin('import', file('o1'))), ...(await begin('import', file('o2')))];
    const exports = [...(await begin('export', everything)), ...(await begin('export', everything))];
    const headers = { authorization: `Bearer ${instance.token}` };
    const removals = Array.from({ length: 10 }, () =>
      instance.app.request('/v2/users/1/otp_email', { method: 'DELETE', headers }),
    );
    open();
    for (const removal of removals) expect((await removal).status).toBe(404);
    for (const outcome of [...imports, ...exports]) expect((await outcome).status).toBe(200);
  });

  it.each(['import', 'export'] as const)('does not count an %s that waits for its body', async (operation) => {
    const { instance, open } = await gatedInstance();
    open();
    for (let call = 0; call < 2 * LIMIT; call++) {
      const { read, body } = endlessBody();
      void post(instance, `/admin/v1/${operation}`, body);
      await read;
    }
    const body = operation === 'import' ? file('o1') : everything;
    expect((await instance.attempt(operation, body)).status).toBe(200);
  });

  it.each([
    ['continues next to as many others', LIMIT],
    ['counts again when it continues', LIMIT - 1],
  ])('does not count an import that waits for another operation, which %s', async (_how, others) => {
    const { instance, store, begin, next, open } = await gatedInstance();
    const { signal } = new AbortController();
    const other = await store.lock.take({ mode: 'alone', operation: 'rekey', caller: 'root', signal });
    const headers = { authorization: `Bearer ${instance.token}`, accept: 'application/x-ndjson' };
    const waiting = await instance.app.request('/admin/v1/import', {
      method: 'POST',
      headers,
      body: JSON.stringify(file('o1')),
    });
    const lines = waiting.body?.getReader();
    expect(Buffer.from((await lines?.read())?.value ?? []).toString()).toContain('waitingFor');
    const trials: Promise<{ readonly status: number }>[] = [];
    for (let index = 0; index < others; index++)
      trials.push(...(await begin('import', file(`o${index + 2}`, { dry_run: true }))));
    const continued = next();
    await other[Symbol.asyncDispose]();
    await continued;
    const isAdmitted = next().then(() => expect.fail('a further import is admitted'));
    const further = instance.attempt('import', file('o4', { dry_run: true }));
    expect((await Promise.race([further, isAdmitted])).status).toBe(429);
    open();
    expect((await Promise.all(trials)).map(({ status }) => status)).toEqual(Array(others).fill(200));
    let last = '';
    for (let read = await lines?.read(); read?.done === false; read = await lines?.read())
      last = Buffer.from(read.value).toString();
    expect(last).toContain('"event":"result"');
  });

  it('counts the end of each call once, including calls that fail', async () => {
    const { instance, open } = await gatedInstance();
    open();
    for (let call = 0; call < 2 * LIMIT; call++) {
      expect((await instance.attempt('import', '{"data_orgs":')).status).toBe(400);
      expect((await instance.attempt('export', { response_output: true, org_ids: ['nowhere'] })).status).not.toBe(429);
    }
    expect((await instance.attempt('import', file('o1'))).status).toBe(200);
    expect((await instance.attempt('export', everything)).status).toBe(200);
  });

  it.each(['import', 'export'] as const)('refuses a further %s before its body arrives', async (operation) => {
    const { instance, begin, open } = await gatedInstance();
    const body = (index: number) => (operation === 'import' ? file(`o${index}`) : everything);
    const running = [...(await begin(operation, body(1))), ...(await begin(operation, body(2)))];
    const { read, body: endless } = endlessBody();
    const refused = post(instance, `/admin/v1/${operation}`, endless);
    await Promise.race([refused, read.then(() => expect.fail('the server reads the body'))]);
    expect((await refused).status).toBe(429);
    open();
    await Promise.all(running);
  });

  it('is checked after the token', async () => {
    const { instance, begin, open } = await gatedInstance();
    const running = [...(await begin('import', file('o1'))), ...(await begin('import', file('o2')))];
    expect((await post(instance, '/admin/v1/import', '{}', 'notreal')).status).toBe(401);
    open();
    await Promise.all(running);
  });
});
