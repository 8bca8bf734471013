import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createServiceUser } from '../../../cli/accounts/serviceUsers.ts';
import { changeRole } from '../../../shared/accounts/memberships.ts';
import { issueToken, revokeTokens } from '../../../shared/accounts/personalAccessTokens.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { storeUnavailable } from '../../../shared/errors/storeErrors.ts';
import { serve } from '../../../shared/http/server.ts';
import { decorateStore, type Store } from '../../../shared/store/store.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { watchedStore, withSmallCommits } from '../../support/stores/watchedStore.ts';

const now = new Date();

/** A service user who is IAM_OWNER, in a separate organisation, and its token. */
async function newOwner(store: Store, orgId: string): Promise<Owner> {
  const userId = await createServiceUser(store, `owner of ${orgId}`, orgId, now);
  await changeRole(store, { userId, orgId: undefined }, 'IAM_OWNER', 'add', now);
  return { userId, orgId, token: (await issueToken(store, userId, new Date(), DAY_MS)).token };
}

interface Owner {
  readonly userId: string;
  readonly orgId: string;
  readonly token: string;
}

/** Two ways in which a caller's authorisation ends during a call, each with the response's status. */
const endings: readonly {
  readonly orgId: string;
  readonly status: number;
  readonly end: (store: Store, owner: Owner) => Promise<unknown>;
}[] = [
  { orgId: 'revoked', status: 401, end: (store, { userId }) => revokeTokens(store, userId) },
  {
    orgId: 'removed',
    status: 403,
    end: (store, { userId }) => changeRole(store, { userId, orgId: undefined }, 'IAM_OWNER', 'remove', now),
  },
];

const callers = endings.map(({ orgId }) => organisation(orgId));
const people = Array.from({ length: 40 }, (_, index) => person(`P${index}`));
const value = Buffer.alloc(370_000).toString('base64');
const metadata = people.map(({ userId }) => ({ id: userId, key: 'large', value }));

/** A store that reports when the next `count` snapshots have been closed. */
function countingStore(store: Store) {
  const closed = Promise.withResolvers<void>();
  let open = 0;
  const counting = withSmallCommits(store, (inner) => ({
    snapshot: async () => {
      const snapshot = await inner.snapshot();
      return {
        readTime: snapshot.readTime,
        getMany: (keys, fields) => snapshot.getMany(keys, fields),
        scan: (range) => snapshot.scan(range),
        [Symbol.asyncDispose]: async () => {
          await snapshot[Symbol.asyncDispose]();
          open--;
          if (open === 0) closed.resolve();
        },
      };
    },
  }));
  const untilClosed = (count: number) => {
    open = count;
    return closed.promise;
  };
  return { counting, untilClosed };
}

/** Begins an export and reads only the head of the response. */
async function beginExport(url: string, token: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const call = request(`${url}/admin/v1/export`, { method: 'POST', headers, agent: false });
  call.end('{"response_output":true}');
  const [response]: IncomingMessage[] = await once(call, 'response');
  if (response === undefined) throw new Error('no response');
  return response.pause();
}

/** Reads the rest of a response, and returns its length. */
async function readRest(response: IncomingMessage): Promise<number> {
  let bytes = 0;
  response.on('error', () => undefined);
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  response.resume();
  await new Promise((resolve) => response.on('close', resolve));
  return bytes;
}

describe('a caller whose authorisation ends during a call', () => {
  it('receives no more of an export than the bytes sent by then, although it had stopped reading', async () => {
    const store = await openTestStore();
    const { counting, untilClosed } = countingStore(store);
    const filled = await testInstance(store, 'test', { store: counting });
    await filled.import({ data_orgs: { orgs: [...callers, organisation('O', { humanUsers: people })] } });
    for (let start = 0; start < metadata.length; start += 10)
      await filled.import({ data_orgs: { orgs: [{ orgId: 'O', userMetadata: metadata.slice(start, start + 10) }] } });
    const { bytes: whole } = await filled.export();
    const closed = untilClosed(endings.length);
    const serving = await serve({ app: filled.app, host: '127.0.0.1', port: 0 });
    onTestFinished(async () => void (await serving.close()));
    const owners = await Promise.all(endings.map(({ orgId }) => newOwner(store, orgId)));
    const responses = await Promise.all(owners.map(({ token }) => beginExport(serving.url, token)));
    for (const [index, { end }] of endings.entries()) {
      const owner = owners[index];
      if (owner !== undefined) await end(store, owner);
    }
    await closed;
    const received = await Promise.all(responses.map(readRest));
    expect(responses.map(({ statusCode, complete }) => ({ statusCode, complete }))).toEqual(
      endings.map(() => ({ statusCode: 200, complete: false })),
    );
    expect(Math.max(...received)).toBeLessThan(whole.length);
  });

  it('writes nothing when its authorisation ends before the body has arrived', async () => {
    const store = await openTestStore();
    const instance = await testInstance(store);
    await instance.import({ data_orgs: { orgs: callers } });
    const body = JSON.stringify({ data_orgs: { orgs: [organisation('new')] } });
    for (const { orgId, status, end } of endings) {
      const owner = await newOwner(store, orgId);
      const halves = new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            controller.enqueue(Buffer.from(body.slice(0, 20)));
            await end(store, owner);
            controller.enqueue(Buffer.from(body.slice(20)));
            controller.close();
          },
        },
        { highWaterMark: 0 },
      );
      const headers = { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' };
      const response = await instance.app.request('/admin/v1/import', {
        method: 'POST',
        headers,
        body: halves,
        duplex: 'half',
      });
      expect({ orgId, status: response.status }).toEqual({ orgId, status });
    }
    expect((await instance.export({ org_ids: ['new'] })).orgs).toEqual([]);
  });

  it('is looked up with the retries of the call, so that a throttled database only delays it', async () => {
    const store = await openTestStore();
    let lookedUp = 0;
    const impatient: Store = {
      ...store,
      getMany: (keys, fields) => {
        const isLookUp = keys.some(({ collection }) => collection === 'tokens');
        if (isLookUp && ++lookedUp > 1) return Promise.reject(storeUnavailable({}, { cause: new Error('throttled') }));
        return store.getMany(keys, fields);
      },
      forCall: () => store,
    };
    const instance = await testInstance(store, 'test', { store: impatient });
    expect(await instance.attempt('import', { data_orgs: { orgs: [organisation('new')] } })).toMatchObject({
      status: 200,
    });
    lookedUp = 0;
    expect(await instance.attempt('export', { response_output: true })).toMatchObject({ status: 200 });
    expect(lookedUp).toBe(1);
  });

  it('ends its import, which another caller can resume', async () => {
    const store = await openTestStore();
    const checked = Promise.withResolvers<void>();
    let owner: Owner | undefined;
    let isRevoked = false;
    const written = watchedStore(store, async (writes) => {
      if (owner === undefined || !writes.some(({ key }) => key.collection === 'users')) return;
      if (!isRevoked) await revokeTokens(store, owner.userId);
      isRevoked = true;
      await checked.promise;
    });
    const waiting = decorateStore(written, (inner) => ({
      getMany: async (keys, fields) => {
        if (isRevoked && keys.some(({ collection }) => collection === 'tokens')) checked.resolve();
        return inner.getMany(keys, fields);
      },
    }));
    const instance = await testInstance(store, 'test', { store: waiting });
    await instance.import({ data_orgs: { orgs: callers } });
    owner = await newOwner(store, 'revoked');
    const many = Array.from({ length: 1_000 }, (_, index) => person(`M${index}`));
    const body = JSON.stringify({ data_orgs: { orgs: [organisation('many', { humanUsers: many })] } });
    const headers = { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' };
    const response = await instance.app.request('/admin/v1/import', { method: 'POST', headers, body });
    expect(response.status).toBe(401);
    const { summary } = await instance.import(JSON.parse(body));
    const { created, unchanged } = summary;
    expect((created.humanUsers ?? 0) + (unchanged.humanUsers ?? 0)).toBe(many.length);
    expect(unchanged.humanUsers).toBeGreaterThan(0);
    expect(created.humanUsers).toBeGreaterThan(0);
  });
});
