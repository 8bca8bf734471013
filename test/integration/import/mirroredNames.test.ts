import { expect, it } from 'vitest';
import { comparable } from '../../support/fixtures/comparable.ts';
import { type Organisation, organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { describeStores, openTestStore } from '../../support/stores/stores.ts';

const mirroring = { on_conflict: 'overwrite', mirror: true, max_deleted: 100 };

/** An organisation of people, each with the name of the one after it for a shift of 1. */
function people(count: number, nameOf: (number: number) => number): Organisation[] {
  const humanUsers = Array.from({ length: count }, (_, number) =>
    person(`u${number}`, { userName: `n${nameOf(number)}` }),
  );
  return [organisation('o', { humanUsers })];
}

const named = (one: string, other: string) => [
  organisation('o', { org: { name: one } }),
  organisation('b', { org: { name: other } }),
];
const triggered = (actionId: string) => [
  organisation('o', {
    actions: [{ actionId, action: { name: 'A', script: 'x', timeout: '10s' } }],
    triggerActions: [{ flowType: '1', triggerType: '1', actionIds: [actionId] }],
  }),
];

const rows: readonly (readonly [
  what: string,
  before: readonly Organisation[],
  after: readonly Organisation[],
  expected: object,
])[] = [
  [
    'a circle of 40 people',
    people(40, (number) => number),
    people(40, (number) => (number + 1) % 40),
    { overwritten: { humanUsers: 40 } },
  ],
  [
    'a line of more people than a commit has',
    people(300, (number) => number),
    people(300, (number) => number + 1),
    { overwritten: { humanUsers: 300 } },
  ],
  ['two organisations', named('one', 'two'), named('two', 'one'), { overwritten: { org: 2 } }],
  [
    'an action and a new one',
    triggered('t'),
    triggered('n'),
    { created: { actions: 1 }, overwritten: { triggerActions: 1 }, deleted: { actions: 1 } },
  ],
];

describeStores('an import that mirrors', (kind) => {
  it.each(rows)('passes names on in one run, as its dry run foresees: %s', async (_, before, after, expected) => {
    const target = await testInstance(await openTestStore(kind));
    const orgIds = after.map(({ orgId }) => orgId);
    const exported = async (orgs: readonly Organisation[]) => {
      const source = await testInstance(await openTestStore(kind), 'source');
      expect((await source.import({ data_orgs: { orgs } })).errors).toBeUndefined();
      return await source.export({ org_ids: orgIds });
    };
    await target.import({ data_orgs: (await exported(before)).bytes });
    const { orgs, bytes } = await exported(after);
    const request = { ...mirroring, data_orgs: bytes, replace_changed: orgIds };
    const { errors, summary: foreseen } = await target.import({ ...request, max_deleted: undefined, dry_run: true });
    const { summary } = await target.import(request);
    expect([errors, summary]).toEqual([undefined, expect.objectContaining(expected)]);
    expect({ ...foreseen, dryRun: undefined }).toEqual({ ...summary, dryRun: undefined });
    expect(comparable((await target.export({ org_ids: orgIds })).orgs)).toEqual(comparable(orgs));
  });
});
