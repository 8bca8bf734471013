import { expect, it } from 'vitest';
import {
  decorateStore,
  type ScanRange,
  type Snapshot,
  type Store,
  type StoredDocument,
} from '../../../shared/store/store.ts';
import { comparable } from '../../support/fixtures/comparable.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { scanAll } from '../../support/stores/documents.ts';
import { describeStores, openTestStore, type StoreKind, sqlite } from '../../support/stores/stores.ts';

/** A store that reports what the scans of its snapshots read. */
function observed(store: Store) {
  const scans: { readonly range: ScanRange; documents: number; ended: boolean }[] = [];
  async function* scan(snapshot: Snapshot, range: ScanRange): AsyncGenerator<readonly StoredDocument[]> {
    const observation = { range, documents: 0, ended: false };
    scans.push(observation);
    try {
      for await (const documents of snapshot.scan(range)) {
        observation.documents += documents.length;
        yield documents;
      }
    } finally {
      observation.ended = true;
    }
  }
  const watched = decorateStore(store, (inner) => ({
    snapshot: async () => {
      const snapshot = await inner.snapshot();
      return { ...snapshot, scan: (range) => scan(snapshot, range) };
    },
  }));
  return { store: watched, scans };
}

async function filled(kind: StoreKind, orgs: readonly object[]) {
  const { store, scans } = observed(await openTestStore(kind));
  const instance = await testInstance(store);
  await instance.import({ data_orgs: { orgs } });
  scans.length = 0;
  return { instance, scans, store };
}

const people = (orgId: string, count: number) =>
  organisation(orgId, { humanUsers: Array.from({ length: count }, (_, number) => person(`${orgId} P${number}`)) });
const withPerson = (orgId: string) =>
  organisation(orgId, {
    humanUsers: [person(`person of ${orgId}`)],
    domains: [{ domainName: `${Buffer.from(orgId).toString('hex')}.example` }],
  });

describeStores('an export of many organisations', (kind) => {
  it('opens as many streams as an export of few organisations', async () => {
    const scansOf = async (count: number) => {
      const { instance, scans } = await filled(
        kind,
        Array.from({ length: count }, (_, number) => withPerson(`O${number}`)),
      );
      expect((await instance.export()).manifest.counts).toMatchObject({
        orgs: count,
        humanUsers: count,
        domains: count,
      });
      return scans.length;
    };
    const few = await scansOf(2);
    expect(await scansOf(40)).toBe(few);
  });

  it('contains the own records of each organisation, whatever the order of their ids', async () => {
    const ids = ['1', '10', '2', 'a', 'a/b', 'a0', 'B', 'ä', '｡', '😀', '~', 'z|%'];
    const { instance } = await filled(kind, ids.map(withPerson));
    const { orgs } = await instance.export();
    const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
    expect(orgs.map(({ orgId }) => orgId)).toEqual(ids.toSorted(byBytes));
    const alone = await Promise.all(ids.map(async (id) => (await instance.export({ org_ids: [id] })).orgs));
    expect(alone.flat()).toHaveLength(ids.length);
    expect(comparable(alone.flat())).toEqual(comparable(orgs));
  });

  it('reads little of an excluded organisation, however large it is', async () => {
    const { instance, scans } = await filled(kind, [withPerson('a'), people('large', 1_500), withPerson('z')]);
    const { orgs } = await instance.export({ excluded_org_ids: [instance.orgId, 'large'] });
    expect(orgs.map(({ orgId, humanUsers }) => [orgId, humanUsers])).toEqual([
      ['a', [expect.objectContaining({ userId: 'person of a' })]],
      ['z', [expect.objectContaining({ userId: 'person of z' })]],
    ]);
    const users = scans.filter(({ range, documents }) => range.collection === 'users' && documents > 0);
    const read = users.reduce((sum, { documents }) => sum + documents, 0);
    expect(read).toBeLessThan(1_000);
  });

  it('omits records whose organisation is missing', async () => {
    const { instance, store } = await filled(kind, ['a', 'b', 'c'].map(withPerson));
    const id = (await documentsOf(store)).find(({ orgId }) => orgId === 'b')?.id ?? '';
    await store.commit([{ type: 'delete', key: { collection: 'organisations', id } }]);
    const { orgs, manifest } = await instance.export();
    expect(orgs.map(({ orgId }) => orgId)).toEqual(['a', 'c']);
    expect(manifest.counts).toMatchObject({ orgs: 2, humanUsers: 2 });
  });
});

async function documentsOf(store: Store): Promise<StoredDocument[]> {
  await using snapshot = await store.snapshot();
  return (await scanAll(snapshot, { collection: 'organisations' })).documents;
}

describeStores('an export of named organisations', (kind) => {
  it('reads these one by one, and nothing of the others', async () => {
    const { instance, scans } = await filled(kind, ['a', 'b', 'c'].map(withPerson));
    const { orgs } = await instance.export({ org_ids: ['c', 'a'] });
    expect(orgs.map(({ orgId }) => orgId)).toEqual(['a', 'c']);
    for (const { range } of scans) expect('partition' in range && range.partition).toMatch(/\/[ac]$/);
  });

  it('reads a long list in one stream for each section', async () => {
    const { instance, scans } = await filled(kind, ['a', 'b', 'c'].map(withPerson));
    const unknown = Array.from({ length: 1_000 }, (_, number) => `unknown ${number}`);
    const { orgs, manifest } = await instance.export({ org_ids: ['c', ...unknown, 'a'] });
    expect(orgs.map(({ orgId }) => orgId)).toEqual(['a', 'c']);
    expect(manifest.counts).toMatchObject({ orgs: 2, humanUsers: 2, domains: 2 });
    expect(scans.length).toBeLessThan(50);
  });
});

describeStores('an export whose client leaves', (kind) => {
  it('ends every stream that it opened', async () => {
    const { instance, scans } = await filled(kind, [people('large', 1_000)]);
    const headers = { authorization: `Bearer ${instance.token}` };
    const body = '{"response_output":true}';
    const response = await instance.app.request('/admin/v1/export', { method: 'POST', headers, body });
    const reader = response.body?.getReader();
    await reader?.read();
    expect(scans.some(({ ended }) => !ended)).toBe(true);
    await reader?.cancel();
    expect(scans.filter(({ ended }) => !ended)).toEqual([]);
  });
});

describeStores('the timeout of an export', (kind) => {
  it('is at most the time for which the database keeps a snapshot', async () => {
    const limits = { timeoutMs: 24 * 3_600_000 };
    const instance = await testInstance(await openTestStore(kind), 'test', { limits });
    const exportFor = (timeout: string) => instance.attempt('export', { response_output: true, timeout });
    expect(await exportFor('1h')).toMatchObject({ status: 200 });
    const { status, text } = await exportFor('61m');
    expect(status).toBe(kind === sqlite ? 200 : 400);
    if (status === 400)
      expect(text).toMatch(/must be at most 1h, because the database then removes the snapshot of the export/);
  });
});
