import { describe, expect, it } from 'vitest';
import { importOrganisations } from '../../../functions/import/operation.ts';
import { storeUnavailable } from '../../../shared/errors/storeErrors.ts';
import type { Store } from '../../../shared/store/store.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { countedInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { hookedStore } from '../../support/stores/watchedStore.ts';

const members = (orgId: string, count: number) =>
  Array.from({ length: count }, (_, index) => person(`${orgId}-${index}`));
const a = organisation('a', { humanUsers: members('a', 3) });
const b = organisation('b', { humanUsers: members('b', 2), projects: [{ projectId: 'b-p', project: { name: 'p' } }] });
const c = organisation('c', { humanUsers: members('c', 1) });
const file = { orgs: [a, b, { orgId: 'a', humanUsers: [person('a-more')] }, c] };

const newInstance = async () => testInstance(await openTestStore());

describe('an import of some organisations of a file', () => {
  it('imports the rest later even if organisations have their ids after their records', async () => {
    const instance = await newInstance();
    const late = ({ orgId, ...rest }: object & { orgId?: unknown }) => ({ ...rest, orgId });
    const { summary } = await instance.import({ org_ids: ['b'], data_orgs: { orgs: [late(a), late(b), late(c)] } });
    expect(summary.created).toMatchObject({ org: 1, humanUsers: 2, projects: 1 });
    expect(summary.notCarried).toEqual({ org: 2, humanUsers: 4 });
  });

  it('verifies the whole file by the manifest, whatever it imports of it', async () => {
    const source = await newInstance();
    await source.import({ data_orgs: file });
    const { bytes } = await source.export();
    const target = await newInstance();
    const { summary } = await target.import(`{"org_ids":["b"],"data_orgs":${bytes}}`);
    expect(summary).toMatchObject({ proved: true, created: { org: 1, humanUsers: 2 } });
  });
});

/** A store that fails at a commit of people. */
function failingStore(store: Store, failing: number): Store {
  let commits = 0;
  return hookedStore(store, async (writes) => {
    if (writes.some(({ key }) => key.collection === 'users') && ++commits === failing)
      throw storeUnavailable({}, { cause: new Error('injected') });
  });
}

describe('an import with on_conflict fail', () => {
  const intruder = { orgId: 'a', orgMembers: [{ userId: 'b-0', roles: ['ORG_OWNER'] }] };
  it.each<[string, readonly object[], readonly object[], string]>([
    ['all organisations exist', file.orgs, file.orgs, 'a, b, c'],
    ['an organisation exists', [c], file.orgs, 'c'],
    ['the file has records of an existing organisation', [a], [b, intruder], 'a'],
  ])('is rejected with 409 and writes nothing if %s, in a dry run too', async (_when, stored, orgs, ids) => {
    const { instance, writesOf } = await countedInstance();
    await instance.import({ on_conflict: 'fail', data_orgs: { orgs: stored } });
    for (const dry_run of [true, false]) {
      const request = { on_conflict: 'fail', dry_run, data_orgs: { orgs } };
      const { result, writes } = await writesOf(() => instance.refusedImport(request));
      const body = expect.objectContaining({ code: 6, message: expect.stringContaining(`: ${ids}`) });
      expect({ ...result, writes }).toEqual({ status: 409, body, writes: 0 });
    }
  });

  it('imports the new organisations of a file if the existing organisations are excluded', async () => {
    const instance = await newInstance();
    await instance.import({ data_orgs: { orgs: [c] } });
    const { summary } = await instance.import({ on_conflict: 'fail', excluded_org_ids: ['c'], data_orgs: file });
    expect(summary.created).toMatchObject({ org: 2 });
  });

  it('is rejected after an interrupted call that created the organisation, and continues without on_conflict', async () => {
    const store = await openTestStore();
    const people = Array.from({ length: 1_000 }, (_, index) => person(`P${index}`));
    const request = { data_orgs: { orgs: [organisation('large', { humanUsers: people })] } };
    const failing = await testInstance(store, 'test', { store: failingStore(store, 1) });
    expect((await failing.refusedImport({ ...request, on_conflict: 'fail' })).status).toBe(503);
    const { status, body } = await failing.refusedImport({ ...request, on_conflict: 'fail' });
    const message = expect.stringContaining('repeat the call without `on_conflict`');
    expect({ status, body }).toMatchObject({ status: 409, body: { code: 6, message } });
    const { created, unchanged } = (await failing.import(request)).summary;
    expect((created.humanUsers ?? 0) + (unchanged.humanUsers ?? 0)).toBe(1_000);
  });

  it('is rejected if another import creates one of its organisations at the same time', async () => {
    const store = await openTestStore();
    let raced = false;
    const racing = hookedStore(store, async (writes) => {
      if (!raced && writes.some(({ key }) => key.collection === 'organisations')) {
        raced = true;
        const source = {
          open: async function* () {
            yield Buffer.from(JSON.stringify({ orgs: [c] }));
          },
        };
        await importOrganisations(
          store,
          source,
          { withKeys: false },
          '2026-01-01T00:00:00.000123Z',
          new AbortController().signal,
        );
      }
    });
    const instance = await testInstance(store, 'test', { store: racing });
    raced = false;
    const { status } = await instance.refusedImport({ on_conflict: 'fail', data_orgs: file });
    expect(status).toBe(409);
  });
});
