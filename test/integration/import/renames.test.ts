import { describe, expect, it } from 'vitest';
import { type Organisation, organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { violationsOf } from '../../support/stores/invariants.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const people = (names: readonly string[]) => [
  organisation('O', { humanUsers: names.map((userName, index) => person(`P${index}`, { userName })) }),
];
const projects = (names: readonly string[]) => [
  organisation('O', { projects: names.map((name, index) => ({ projectId: `P${index}`, project: { name } })) }),
];
const organisations = (names: readonly string[]) => names.map((name, index) => ({ orgId: `P${index}`, org: { name } }));
const overwriting = (orgs: readonly object[]) => ({ data_orgs: { orgs }, on_conflict: 'overwrite' });

describe('a record that requests the name of another record by "overwrite"', () => {
  it.each<[string, (names: readonly string[]) => Organisation[], message: string]>([
    ['a person', people, 'Errors.User.AlreadyExists'],
    ['a project', projects, 'Errors.Project.AlreadyExists'],
    ['an organisation', organisations, 'Errors.Org.AlreadyExists'],
  ])('is an error until that record has released the name: %s', async (_what, file, message) => {
    const store = await openTestStore(sqlite);
    const instance = await testInstance(store);
    await instance.import({ data_orgs: { orgs: file(['a', 'b']) } });
    const renaming = overwriting(file(['b', 'c']));
    const first = await instance.import(renaming);
    expect(first.errors).toEqual([expect.objectContaining({ id: 'P0', message: `ID=V3-DKcYh Message=${message}` })]);
    const warning =
      'its unique name belongs to P1: change one of the names; if this import changes the other one, send it again';
    expect(first.summary.warnings).toContainEqual(
      expect.objectContaining({ id: 'P0', reason: 'name_taken', message: warning }),
    );
    expect(violationsOf(await readDatabase(store))).toEqual([]);
    expect((await instance.import(renaming)).errors).toBeUndefined();
    const alone = await testInstance(await openTestStore(sqlite));
    await alone.import({ data_orgs: { orgs: file(['b', 'c']) } });
    expect((await instance.export()).manifest.digest).toBe((await alone.export()).manifest.digest);
  });

  it('is an error even if that record requests its own name', async () => {
    const store = await openTestStore(sqlite);
    const instance = await testInstance(store);
    await instance.import({ data_orgs: { orgs: people(['a', 'b']) } });
    const before = await instance.export();
    for (let call = 0; call < 2; call++)
      expect((await instance.import(overwriting(people(['b', 'a'])))).errors).toHaveLength(2);
    expect((await instance.export()).manifest.digest).toBe(before.manifest.digest);
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });
});
