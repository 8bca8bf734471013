import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServiceUser } from '../../../cli/accounts/serviceUsers.ts';
import { routes as removalRoutes } from '../../../functions/removeOtpEmail/app.ts';
import { issueToken, revokeTokens } from '../../../shared/accounts/personalAccessTokens.ts';
import type { AuditEvent } from '../../../shared/audit/auditEvent.ts';
import { tokenId } from '../../../shared/auth/token.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { auditUnwritable, storeUnavailable } from '../../../shared/errors/storeErrors.ts';
import { createApp } from '../../../shared/http/app.ts';
import { createCloudStorage } from '../../../shared/objectStorage/cloudStorage.ts';
import { decorateStore, type Store, type TransactionWork } from '../../../shared/store/store.ts';
import { memoryTrail } from '../../support/audit/memoryTrail.ts';
import { type LocalBucket, startLocalBucket } from '../../support/emulators/localBucket.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { provedFile } from '../../support/fixtures/provedFile.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { contentsOf, readDatabase } from '../../support/stores/database.ts';
import { describeStores, openTestStore, sqlite } from '../../support/stores/stores.ts';

let local: LocalBucket;
beforeAll(async () => {
  local = await startLocalBucket();
});
afterAll(() => local.close());

/** A place in the bucket, with the key of an account that may write and read there. */
function object(path: string) {
  const { clientEmail, privateKey } = local.account;
  const key = { type: 'service_account', client_email: clientEmail, private_key: privateKey };
  return { bucket: 'exports', path, serviceaccount_json: Buffer.from(JSON.stringify(key)).toString('base64') };
}

const names = (events: readonly AuditEvent[]) => events.map(({ event, outcome }) => `${event} ${outcome}`);
const file = () => ({
  orgs: [organisation('O', { humanUsers: [{ ...person('ada'), otpEmail: true }, person('bob')] })],
});

/** An instance whose trail the test can block or break. */
async function auditedInstance(kind = sqlite, replaced: { readonly store?: (store: Store) => Store } = {}) {
  const state = { onAppend: async (_event: AuditEvent) => {} };
  const { audit, events } = memoryTrail((event) => state.onAppend(event));
  const store = await openTestStore(kind);
  const objectStorage = createCloudStorage(local.url);
  const served = replaced.store?.(store) ?? store;
  const instance = await testInstance(store, 'test', { store: served, audit, objectStorage });
  const removal = createApp({ routes: removalRoutes({ store: served, audit, now: () => new Date() }) });
  const remove = (userId: string, token = instance.token, headers = {}) =>
    removal.request(`/v2/users/${userId}/otp_email`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
  return { ...instance, store, audit, events, state, remove };
}

describe('the audit trail', () => {
  it('records each record that a mirroring import deletes, with its name, before the import ends', async () => {
    const { events, import: importFile } = await auditedInstance();
    const owned = { humanUsers: [person('ada'), person('bob')], orgMembers: [{ userId: 'bob', roles: ['ORG_OWNER'] }] };
    await importFile({ data_orgs: await provedFile([organisation('O', { ...owned, labelPolicy: {} })]) });
    events.length = 0;
    const namesake = { humanUsers: [person('ada'), person('eve', { userName: 'name of bob' })] };
    const data_orgs = await provedFile([organisation('O', namesake)]);
    const { errors } = await importFile({ data_orgs, on_conflict: 'overwrite', mirror: true, max_deleted: 3 });
    expect(errors).toBeUndefined();
    const [{ userId, tokenId: token, requestId } = {}] = events;
    const deleted = { event: 'import.deleted', outcome: 'ok', orgIds: ['O'], userId, tokenId: token, requestId };
    expect(events.slice(1)).toEqual([
      ...[
        { type: 'org_member', target: 'O_bob' },
        { type: 'human_user', target: 'bob', name: 'name of bob' },
        { type: 'label_policy', target: 'O' },
      ].map((facts) => ({ time: expect.any(String), ...deleted, ...facts })),
      expect.objectContaining({ event: 'import.finished', counts: { created: 1, unchanged: 2, deleted: 3 } }),
    ]);
  });

  it('records an import from its first write to its end: the caller, the operation, the organisations, the file and the counts', async () => {
    const { events, token, import: importFile } = await auditedInstance();
    await importFile({ data_orgs: file(), with_keys: true });
    expect(events).toEqual([
      {
        time: expect.any(String),
        event: 'import.started',
        outcome: 'started',
        userId: expect.stringMatching(/^\d+$/),
        tokenId: tokenId(token),
        requestId: expect.any(String),
        orgIds: ['O'],
        flags: ['with_keys', 'on_conflict=report'],
        digest: expect.stringMatching(/^[\w-]{43}$/),
      },
      { ...events[0], time: expect.any(String), event: 'import.finished', outcome: 'ok', counts: { created: 3 } },
    ]);
  });

  it('marks dry runs and exports of no organisation as trials, and nothing else', async () => {
    const { events, attempt, import: importFile } = await auditedInstance();
    await importFile({ data_orgs: file(), dry_run: true });
    await attempt('export', { org_ids: ['-'], response_output: true });
    await importFile({ data_orgs: file() });
    await attempt('export', { org_ids: ['O'], response_output: true });
    const trials = ['import', 'import', 'export', 'export'].map((name) => [name, true]);
    const others = ['import', 'import', 'export', 'export'].map((name) => [name, undefined]);
    expect(events.map(({ event, trial }) => [event.split('.')[0], trial])).toEqual([...trials, ...others]);
  });

  it('records an export from its first byte to its end, and the objects of exports and imports with their generations', async () => {
    const { events, attempt, export: exportAll, import: importFile } = await auditedInstance();
    await importFile({ data_orgs: file() });
    const exported = await exportAll({ with_keys: false });
    expect(names(events.slice(2))).toEqual(['export.started started', 'export.finished ok']);
    expect(events[3]).toMatchObject({
      flags: ['with_passwords', 'with_otp', 'response_output', 'excluded_org_ids=1'],
      orgIds: [],
      counts: exported.manifest.counts,
      digest: exported.manifest.digest,
    });
    const path = 'exported.json';
    const written = await attempt('export', { org_ids: ['O'], gcs_output: object(path) });
    expect(written.status, written.text).toBe(200);
    const place = { bucket: 'exports', path };
    const generation = expect.stringMatching(/^\d+$/);
    expect(events.slice(4)).toEqual([
      expect.objectContaining({ event: 'export.started', orgIds: ['O'], object: place }),
      expect.objectContaining({ event: 'export.finished', outcome: 'ok', object: { ...place, generation } }),
    ]);
    await importFile({ data_orgsv1_gcs: object(path), dry_run: true });
    expect(events.slice(6)).toEqual([
      expect.objectContaining({
        event: 'import.started',
        object: { ...place, generation },
        flags: ['dry_run', 'on_conflict=report'],
      }),
      expect.objectContaining({ event: 'import.finished', outcome: 'ok', counts: { unchanged: 3 } }),
    ]);
  });

  it('records a removal once, and neither a repeated removal nor one of an unknown user', async () => {
    const { events, remove, import: importFile } = await auditedInstance();
    await importFile({ data_orgs: file() });
    const statuses = [await remove('ada'), await remove('ada'), await remove('nobody')].map(({ status }) => status);
    expect(statuses).toEqual([200, 404, 404]);
    expect(events.slice(2)).toEqual([
      expect.objectContaining({ event: 'otpEmail.removed', outcome: 'ok', target: 'ada', orgIds: ['O'] }),
    ]);
    expect((await remove('bob', undefined, { accept: 'application/grpc-web+proto' })).status).toBe(404);
    expect(events).toHaveLength(3);
  });

  it('records a removal whose commit fails in two lines', async () => {
    let isBroken = false;
    const failing = (store: Store) =>
      decorateStore(store, (inner) => ({
        transaction: <Result>(work: TransactionWork<Result>) =>
          inner.transaction<Result>(async (transaction, earlier) => {
            const result = await work(transaction, earlier);
            if (isBroken) throw storeUnavailable();
            return result;
          }),
      }));
    const { events, remove, import: importFile } = await auditedInstance(sqlite, { store: failing });
    await importFile({ data_orgs: file() });
    isBroken = true;
    expect((await remove('ada')).status).toBe(503);
    expect(names(events.slice(2))).toEqual(['otpEmail.removed ok', 'otpEmail.removed UNAVAILABLE']);
  });

  it('records the denied caller if a token proves it, over HTTP and gRPC-Web, and closes without an open call', async () => {
    const { attempt, audit, events, remove, store, orgId, app } = await auditedInstance();
    const userId = await createServiceUser(store, 'nobody', orgId, new Date());
    const { token, ...issued } = await issueToken(store, userId, new Date(), DAY_MS);
    const headers = { authorization: `Bearer ${token}` };
    for (const path of ['/admin/v1/export', '/admin/v1/import'])
      expect((await app.request(path, { method: 'POST', headers, body: '{}' })).status).toBe(403);
    expect((await remove('ada', token)).status).toBe(403);
    expect((await remove('ada', token, { accept: 'application/grpc-web+proto' })).status).toBe(403);
    await revokeTokens(store, userId);
    expect((await remove('ada', token)).status).toBe(401);
    expect((await attempt('import', '{')).status).toBe(400);
    await audit.close();
    const denied = { outcome: 'PERMISSION_DENIED', userId, tokenId: issued.tokenId };
    expect(events).toEqual([
      expect.objectContaining({ event: 'export.denied', ...denied }),
      expect.objectContaining({ event: 'import.denied', ...denied }),
      expect.objectContaining({ event: 'otpEmail.denied', ...denied, target: 'ada' }),
      expect.objectContaining({ event: 'otpEmail.denied', ...denied, target: 'ada' }),
    ]);
  });
});

describeStores('the audit trail', (kind) => {
  it('must be durable before the first byte of an export or an object, and the first write of an import or removal', async () => {
    const { app, events, state, store, remove, token, import: importFile, attempt } = await auditedInstance(kind);
    await importFile({ data_orgs: file() });
    const before = contentsOf(await readDatabase(store), ['O', 'P']);
    const calls: readonly (() => Promise<{ readonly status: number }>)[] = [
      () => attempt('export', { response_output: true }),
      () => attempt('export', { gcs_output: object(`held ${kind.name}.json`) }),
      () => attempt('import', { data_orgs: { orgs: [organisation('P', { humanUsers: [person('eve')] })] } }),
      async () => remove('ada'),
    ];
    for (const call of calls) {
      const appending = Promise.withResolvers<void>();
      const durable = Promise.withResolvers<void>();
      state.onAppend = () => {
        appending.resolve();
        return durable.promise;
      };
      let isAnswered = false;
      const answer = call().then(({ status }) => {
        isAnswered = true;
        return status;
      });
      await appending.promise;
      expect(contentsOf(await readDatabase(store), ['O', 'P'])).toEqual(before);
      const pinned = await attemptToPin(app, token, `held ${kind.name}.json`, state);
      expect({ isAnswered, pinned }).toEqual({ isAnswered: false, pinned: 404 });
      durable.reject(auditUnwritable({}, { cause: new Error('no space left') }));
      expect(await answer).toBe(503);
    }
    expect(contentsOf(await readDatabase(store), ['O', 'P'])).toEqual(before);
    expect(names(events)).toEqual(['import.started started', 'import.finished ok']);
  });
});

/** Requests an import from an object; the status shows whether the object exists. */
async function attemptToPin(
  app: Awaited<ReturnType<typeof auditedInstance>>['app'],
  token: string,
  path: string,
  state: { onAppend: (event: AuditEvent) => Promise<void> },
): Promise<number> {
  const { onAppend } = state;
  state.onAppend = async () => {};
  const body = JSON.stringify({ data_orgsv1_gcs: object(path), dry_run: true });
  const headers = { authorization: `Bearer ${token}` };
  const { status } = await app.request('/admin/v1/import', { method: 'POST', headers, body });
  state.onAppend = onAppend;
  return status;
}
