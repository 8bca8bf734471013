import { describe, expect, it } from 'vitest';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { countedInstance } from '../../support/instances/testInstance.ts';

describe('unlimited numbers of unknown names', () => {
  it('are capped, and the rest is counted under one name', async () => {
    const { instance } = await countedInstance();
    const fields = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, index]));
    const { summary } = await instance.import({ data_orgs: { orgs: [organisation('O', fields)] } });
    const names = Object.keys(summary.notCarried);
    expect(names.length).toBeLessThanOrEqual(101);
    expect(Object.values(summary.notCarried).reduce((sum, count) => sum + count, 0)).toBe(5_000);
  });
});

describe('an unknown field with the name of a member of every object', () => {
  const names = Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== '__proto__');

  it.each(names)('%s is counted', async (name) => {
    const { instance } = await countedInstance();
    const { summary } = await instance.import({
      data_orgs: { [name]: [1, 2], orgs: [organisation('O', { [name]: 'x' })] },
    });
    expect(Object.entries(summary.notCarried)).toEqual([[name, 3]]);
  });

  it('__proto__ is counted among the fields that are not listed, because many clients drop it', async () => {
    const { instance } = await countedInstance();
    const { summary } = await instance.import({
      data_orgs: { ['__proto__']: [1, 2], orgs: [organisation('O', { ['__proto__']: 'x' })] },
    });
    expect(Object.entries(summary.notCarried)).toEqual([['*', 3]]);
  });
});

it('a record with the state of a deleted record is not imported', async () => {
  const { instance } = await countedInstance();
  const humanUsers = [person('ada'), { ...person('gone'), state: 'USER_STATE_DELETED' }];
  const removed = { orgId: 'removed', org: { name: 'Removed' }, orgState: 'ORG_STATE_REMOVED' };
  const { errors, summary } = await instance.import({
    data_orgs: { orgs: [organisation('O', { humanUsers }), removed] },
  });
  const text = 'is the state of a deleted record: remove the record from the file';
  expect(errors?.map(({ message }) => message)).toEqual([
    `orgs[1].orgState: ORG_STATE_REMOVED ${text}`,
    `orgs[0].humanUsers[1].state: USER_STATE_DELETED ${text}`,
  ]);
  expect(summary).toMatchObject({ created: { org: 1, humanUsers: 1 }, failed: { org: 1, humanUsers: 1 } });
});
