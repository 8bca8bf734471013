import { describe, expect, it } from 'vitest';
import { survived } from '../../faults/support/survived.ts';
import { type Organisation, organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { violationsOf } from '../../support/stores/invariants.ts';
import { openTestStore } from '../../support/stores/stores.ts';

const people = (names: readonly string[]) => [
  organisation('O', { humanUsers: names.map((userName, index) => person(`P${index}`, { userName })) }),
];
const projects = (names: readonly string[]) => [
  organisation('O', { projects: names.map((name, index) => ({ projectId: `P${index}`, project: { name } })) }),
];
const organisations = (names: readonly string[]) => names.map((name, index) => ({ orgId: `O${index}`, org: { name } }));
const names = (count: number) => Array.from({ length: count }, (_, index) => `name ${index}`);

/** The names of which each record takes the one of the record `by` places further; beyond the ends they are new. */
const shifted = (count: number, by: number) => names(count).map((_, index) => `name ${index + by}`);
/** The names of which each record takes the one of the record `by` places further, around the circle. */
const turned = (count: number, by: number) => names(count).map((_, index) => `name ${(index + by) % count}`);
/** The names of which the first and the last, the second and the last but one have changed places, and so on. */
const reversed = (count: number) => names(count).reverse();

type Exchange = [
  which: string,
  file: (names: readonly string[]) => Organisation[],
  count: number,
  wanted: readonly string[],
];

describe('records that take the names of each other by "overwrite"', () => {
  it.for<Exchange>([
    ['two people who swap', people, 2, turned(2, 1)],
    ['two projects that swap', projects, 2, turned(2, 1)],
    ['two organisations that swap', organisations, 2, turned(2, 1)],
    ['three people in a circle', people, 3, turned(3, 2)],
    ['1,000 people, each with the name of the next', people, 1_000, shifted(1_000, 1)],
    ['1,000 people, each with the name of the one before', people, 1_000, shifted(1_000, -1)],
    [
      '1,000 projects, each with the name of one further away than a batch is long',
      projects,
      1_000,
      shifted(1_000, 333),
    ],
    ['300 organisations, each with the name of the next', organisations, 300, shifted(300, 1)],
    ['600 people in a circle through several batches', people, 600, turned(600, 1)],
    ['1,000 people who swap with those in other batches', people, 1_000, reversed(1_000)],
  ])('have them after one import: %s', async ([_which, file, count, wanted], context) => {
    const store = await openTestStore();
    const instance = await testInstance(store);
    await instance.import({ data_orgs: { orgs: file(names(count)) } });
    const overwriting = { data_orgs: { orgs: file(wanted) }, on_conflict: 'overwrite' };
    const { errors, summary } = await instance.import(overwriting);
    expect({ errors, failed: summary.failed }).toEqual({ errors: undefined, failed: {} });
    expect(violationsOf(await readDatabase(store))).toEqual([]);
    expect((await instance.import(overwriting)).summary).toMatchObject({ created: {}, failed: {} });
    const alone = await testInstance(await openTestStore());
    await alone.import({ data_orgs: { orgs: file(wanted) } });
    expect((await instance.export()).manifest.digest).toBe((await alone.export()).manifest.digest);
    survived(context, 'exchanged names', 'SQLite', 1);
  });

  it('are reported where somebody outside the file keeps the name, and so is everybody who waits for them', async () => {
    const store = await openTestStore();
    const instance = await testInstance(store);
    await instance.import({ data_orgs: { orgs: people(names(600)) } });
    const kept = organisation('Q', { humanUsers: [person('outside', { userName: 'name 600' })] });
    await instance.import({ data_orgs: { orgs: [kept] } });
    const { errors } = await instance.import({
      data_orgs: { orgs: people(shifted(600, 1)) },
      on_conflict: 'overwrite',
    });
    expect(errors).toHaveLength(600);
    expect(new Set(errors?.map(({ message }) => message))).toEqual(
      new Set(['ID=V3-DKcYh Message=Errors.User.AlreadyExists']),
    );
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });
});
