import { describe, expect, it } from 'vitest';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { countedInstance } from '../../support/instances/testInstance.ts';
import { readDatabase } from '../../support/stores/database.ts';

const phone = { phone: { phone: '+41791234567' } };
const linkedAs = (externalUserId: string) => ({ idps: [{ configId: 'elsewhere', externalUserId }] });
/** Records of every outcome: duplicates, a taken name, a reference to a missing record, and a weak password. */
const faulty = [
  organisation('O', {
    humanUsers: [
      person('A', linkedAs('one')),
      person('A', { ...phone, ...linkedAs('two') }),
      person('B', { userName: 'name of A' }),
      person('C', { password: 'weak' }),
      person('D', { hashedPassword: { value: 'unknown' } }),
    ],
    userMetadata: [
      { id: 'A', key: 'k', value: 'eA==' },
      { id: 'unknown', key: 'k', value: 'eA==' },
    ],
    userGrants: [{ userId: 'A', projectId: 'none' }],
  }),
  organisation('P', { org: { name: 'Organisation O' }, humanUsers: [person('E')] }),
];

describe('a dry run', () => {
  it.each<[string, object, object]>([
    ['of a file with faults of every kind', { dataOrgs: { orgs: [] } }, { dataOrgs: { orgs: faulty } }],
    [
      'over an earlier import of some records',
      { dataOrgs: { orgs: [organisation('O', { humanUsers: [person('A', { userName: 'other' })] })] } },
      { dataOrgs: { orgs: faulty }, on_conflict: 'overwrite' },
    ],
  ])('%s reports the outcome of the real import, and writes nothing', async (_what, before, body) => {
    const { instance, store, writesOf } = await countedInstance();
    if ('dataOrgs' in before) await instance.import({ ...before, with_keys: true });
    const stored = await readDatabase(store);
    const dry = await writesOf(() => instance.import({ ...body, with_keys: true, dry_run: true }));
    expect(dry.writes).toBe(0);
    expect(await readDatabase(store)).toEqual(stored);
    const { summary, ...lists } = await instance.import({ ...body, with_keys: true });
    expect(dry.result).toEqual({ ...lists, summary: { ...summary, dryRun: true } });
  });

  it('reports more than one batch of records at a time', async () => {
    const { instance, store } = await countedInstance();
    const humanUsers = Array.from({ length: 1_200 }, (_, index) =>
      person(`P${index % 1_100}`, index < 1_100 ? {} : phone),
    );
    const body = { dataOrgs: { orgs: [organisation('O', { humanUsers })] } };
    const stored = await readDatabase(store);
    const { summary } = await instance.import({ ...body, dry_run: true });
    expect(summary).toMatchObject({
      created: { org: 1, humanUsers: 1_100 },
      failed: { humanUsers: 100 },
      dryRun: true,
    });
    expect(await readDatabase(store)).toEqual(stored);
  });

  it('of an invalid document is rejected like the real import', async () => {
    const { instance } = await countedInstance();
    const body = { dataOrgs: { orgs: [{ orgId: 7 }] } };
    const dry = await instance.refusedImport({ ...body, dry_run: true });
    expect(dry).toEqual(await instance.refusedImport(body));
  });
});
