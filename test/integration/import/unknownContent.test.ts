import { describe, expect, it } from 'vitest';
import { z } from 'zod';
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
    const body = { data_orgs: { orgs: [organisation('O', { humanUsers: [person('A', { profile })] })] } };
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

const violations = z.array(
  z.looseObject({ fieldViolations: z.array(z.looseObject({ field: z.string() })).default([]) }),
);

// The file is read before the first read from the store.
describe('an unknown state', () => {
  it.each<[string, object, string]>([
    [
      'of a person',
      { humanUsers: [{ ...person('A'), state: 'USER_STATE_SUSPENDED_BY_ADMIN' }] },
      'orgs[0].humanUsers[0].state',
    ],
    ['of a person, as a number', { humanUsers: [{ ...person('A'), state: 99 }] }, 'orgs[0].humanUsers[0].state'],
    [
      'of a service user',
      { machineUsers: [{ userId: 'R', user: { userName: 'r', name: 'r' }, state: 'X' }] },
      'orgs[0].machineUsers[0].state',
    ],
    [
      'of a project',
      { projects: [{ projectId: 'P', project: { name: 'P' }, state: 'USER_STATE_ACTIVE' }] },
      'orgs[0].projects[0].state',
    ],
    ['of an organisation', { orgState: 'ORG_STATE_FROZEN' }, 'orgs[0].orgState'],
    ['of an organisation, as a number', { org_state: 99 }, 'orgs[0].orgState'],
  ])('is rejected with 400 before anything is written: %s', async (_whose, fields, field) => {
    const { instance, writesOf } = await countedInstance();
    const { result, writes } = await writesOf(() =>
      instance.refusedImport({ data_orgs: { orgs: [organisation('O', fields)] } }),
    );
    expect({ status: result.status, writes }).toEqual({ status: 400, writes: 0 });
    const fields400 = violations.parse(result.body.details).flatMap(({ fieldViolations }) => fieldViolations);
    expect(fields400.map((violation) => violation.field.replace('org_state', 'orgState'))).toEqual([field]);
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
