import { describe, expect, it } from 'vitest';
import { organisation, person, unproved } from '../../support/fixtures/organisations.ts';
import { countedInstance } from '../../support/instances/testInstance.ts';

describe('unknown content of a file', () => {
  it('is counted in notCarried: fields of the file, of organisations and of records, by their path', async () => {
    const { instance } = await countedInstance();
    const apps = [{ appId: 'a' }, { appId: 'b' }];
    const people = [
      person('A', { favouriteColour: 'red', email: { email: 'a@example.com', verifiedBy: ['x'] } }),
      { ...person('B', { favourite_colour: 1 }), nickname: null, department: {} },
    ];
    const org = organisation('O', {
      samlApps: apps,
      features: { beta: true },
      none: null,
      empty: [],
      humanUsers: people,
    });
    const other = organisation('P', { samlApps: [{ appId: 'c' }], org: { name: 'P', motto: 'x' } });
    const file = { users: [{ id: 'u' }, { id: 'v' }], absent: null, orgs: [org, other], exportedBy: { user: 'x' } };
    const { errors, summary } = await instance.import({ data_orgs: file });
    expect(errors).toBeUndefined();
    expect(summary.notCarried).toEqual({
      users: 2,
      exportedBy: 1,
      samlApps: 3,
      features: 1,
      'org.motto': 1,
      'humanUsers.user.favouriteColour': 1,
      'humanUsers.user.favourite_colour': 1,
      'humanUsers.user.email.verifiedBy': 1,
      'humanUsers.department': 1,
    });
  });

  it('is a warning if it is the name of an enumeration', async () => {
    const { instance } = await countedInstance();
    const profile = { firstName: 'A', lastName: 'B', gender: 'GENDER_QUEER' };
    const body = {
      data_orgs: {
        orgs: [organisation('O', { humanUsers: [{ ...person('A', { profile }), state: 'USER_STATE_ACTIVE' }] })],
      },
    };
    for (const _repetition of [1, 2]) {
      const { errors, summary } = await instance.import(body);
      expect(errors).toBeUndefined();
      expect(summary.warnings).toEqual([
        unproved,
        {
          type: 'human_user',
          id: 'A',
          reason: 'value_unknown',
          message: expect.stringMatching(/^unknown value "GENDER_QUEER" .*user\.profile\.gender/),
        },
      ]);
    }
  });
});

describe('an unknown state', () => {
  it.each<[string, object, object]>([
    [
      'of a person',
      { humanUsers: [{ ...person('A'), state: 'USER_STATE_SUSPENDED_BY_ADMIN' }] },
      {
        type: 'human_user',
        id: 'A',
        message: 'orgs[0].humanUsers[0].state: unknown state "USER_STATE_SUSPENDED_BY_ADMIN"',
      },
    ],
    [
      'of a person, as a number',
      { humanUsers: [{ ...person('A'), state: 99 }] },
      { type: 'human_user', id: 'A', message: 'orgs[0].humanUsers[0].state: unknown state 99' },
    ],
    [
      'of a service user',
      { machineUsers: [{ userId: 'R', user: { userName: 'r', name: 'r' }, state: 'X' }] },
      { type: 'machine_user', id: 'R', message: 'orgs[0].machineUsers[0].state: unknown state "X"' },
    ],
    [
      'of a project',
      { projects: [{ projectId: 'P', project: { name: 'P' }, state: 'USER_STATE_ACTIVE' }] },
      { type: 'project', id: 'P', message: 'orgs[0].projects[0].state: unknown state "USER_STATE_ACTIVE"' },
    ],
    [
      'of an organisation',
      { orgState: 'ORG_STATE_FROZEN' },
      { type: 'org', id: 'O', message: 'orgs[0].orgState: unknown orgState "ORG_STATE_FROZEN"' },
    ],
    [
      'of an organisation, as a number',
      { orgState: undefined, org_state: 99 },
      { type: 'org', id: 'O', message: 'orgs[0].orgState: unknown orgState 99' },
    ],
  ])('fails its record, which would get access without it: %s', async (_whose, fields, error) => {
    const { instance } = await countedInstance();
    const { errors, summary } = await instance.import({ data_orgs: { orgs: [organisation('O', fields)] } });
    expect(errors?.map(({ type, id, message }) => ({ type, id, message: message.split(': expected')[0] }))).toEqual([
      error,
    ]);
    expect(Object.values(summary.failed)).toEqual([1]);
    expect((await instance.export()).bytes).not.toMatch(/"(?:userId|projectId)":"[ARP]"/);
  });
});

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
