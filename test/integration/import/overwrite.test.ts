import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';

const overwriting = (...orgs: object[]) => ({ data_orgs: { orgs }, on_conflict: 'overwrite' });
const reporting = (...orgs: object[]) => ({ data_orgs: { orgs } });
const reserved = 'ID=COMMAND-SFd21 Message=Errors.User.DomainNotAllowedAsUsername';

describe('a user name in a domain that another organisation has verified', () => {
  const acme = organisation('acme', { domains: [{ domainName: 'acme.com', isVerified: true }] });
  const member = (userName: string, user: object = {}) =>
    organisation('a', { humanUsers: [person('A', { userName, ...user })] });

  it('cannot be taken by "overwrite"', async () => {
    const instance = await testInstance(await openTestStore());
    await instance.import(reporting(acme, member('anna')));
    const before = await instance.export();
    const { errors } = await instance.import(overwriting(member('ceo@acme.com')));
    expect(errors).toEqual([{ type: 'human_user', id: 'A', message: reserved }]);
    expect((await instance.export()).manifest.digest).toBe(before.manifest.digest);
  });
});

const states = z.array(z.looseObject({ state: z.string() })).default([]);

describe('a record without a state', () => {
  const file = (state: object, firstName: string, orgState: object) =>
    organisation('O', {
      orgState: undefined,
      ...orgState,
      humanUsers: [{ ...person('A', { profile: { firstName, lastName: 'B' } }), ...state }],
      machineUsers: [{ userId: 'B', user: { userName: 'robot', name: firstName }, ...state }],
    });
  const locked = file({ state: 'USER_STATE_LOCKED' }, 'first', { orgState: 'ORG_STATE_INACTIVE' });

  it('keeps the stored one under "overwrite", and is unchanged the second time', async () => {
    const instance = await testInstance(await openTestStore());
    await instance.import(reporting(locked));
    const other = overwriting(file({}, 'second', {}));
    expect((await instance.import(other)).summary).toMatchObject({ overwritten: { humanUsers: 1, machineUsers: 1 } });
    const [exported] = (await instance.export()).orgs;
    expect(exported?.orgState).toBe('ORG_STATE_INACTIVE');
    const users = [...states.parse(exported?.humanUsers), ...states.parse(exported?.machineUsers)];
    expect(users.map(({ state }) => state)).toEqual(['USER_STATE_LOCKED', 'USER_STATE_LOCKED']);
    const { summary } = await instance.import(other);
    expect(summary.unchanged).toEqual({ org: 1, humanUsers: 1, machineUsers: 1 });
  });

  it('is another one than that which is locked for "report", and a state that the file has is taken', async () => {
    const instance = await testInstance(await openTestStore());
    await instance.import(reporting(locked));
    const { errors } = await instance.import(reporting(file({}, 'first', {})));
    expect(errors?.map(({ type }) => type)).toEqual(['org', 'human_user', 'machine_user']);
    const active = file({ state: 'USER_STATE_ACTIVE' }, 'first', { orgState: 'ORG_STATE_ACTIVE' });
    const { summary: after } = await instance.import(overwriting(active));
    expect(after.overwritten).toEqual({ org: 1, humanUsers: 1, machineUsers: 1 });
  });
});

const owners = z.array(z.looseObject({ userId: z.string(), user: z.looseObject({ userName: z.string() }) }));

describe("the caller's own user in a file", () => {
  it.each(['LOCKED', 'INACTIVE', 'SUSPEND', 'DELETED'])(
    'cannot be brought into the state %s, and nothing else of it changes',
    async (state) => {
      const instance = await testInstance(await openTestStore());
      const [own] = (await instance.export({ org_ids: [instance.orgId], excluded_org_ids: [] })).orgs;
      const [owner] = owners.parse(own?.machineUsers);
      if (own === undefined || owner === undefined) throw new Error('no owner');
      const changed = (change: object) => ({ ...own, machineUsers: [{ ...owner, ...change }] });
      const { errors } = await instance.import(
        overwriting(changed({ user: { ...owner.user, name: 'other' }, state: `USER_STATE_${state}` })),
      );
      expect(errors).toEqual([
        { type: 'machine_user', id: owner.userId, message: 'ID=IMPORT-ownState Message=Errors.User.OwnState' },
      ]);
      const [after] = (await instance.export({ org_ids: [instance.orgId], excluded_org_ids: [] })).orgs;
      expect(after).toEqual(own);
      const { summary } = await instance.import(overwriting(changed({ user: { ...owner.user, name: 'other' } })));
      expect(summary.overwritten).toEqual({ machineUsers: 1 });
    },
  );
});

describe("the caller's own organisation in a file", () => {
  it.each(['INACTIVE', 'REMOVED'])(
    'cannot be brought into the state %s, but its records are imported',
    async (state) => {
      const instance = await testInstance(await openTestStore());
      const [own] = (await instance.export({ org_ids: [instance.orgId], excluded_org_ids: [] })).orgs;
      if (own === undefined) throw new Error('no organisation');
      const changed = { ...own, orgState: `ORG_STATE_${state}`, humanUsers: [person('new')] };
      const { errors, summary } = await instance.import(overwriting(changed));
      expect(errors).toEqual([
        { type: 'org', id: instance.orgId, message: 'ID=IMPORT-ownOrgState Message=Errors.Org.OwnState' },
      ]);
      expect(summary.created).toEqual({ humanUsers: 1 });
      const [after] = (await instance.export({ org_ids: [instance.orgId], excluded_org_ids: [] })).orgs;
      expect(after).toMatchObject({ orgState: own.orgState, humanUsers: [{ userId: 'new' }] });
    },
  );
});

describe('an organisation that exists, and cannot take its new name', () => {
  it('is an error, and its records are imported', async () => {
    const instance = await testInstance(await openTestStore());
    await instance.import(reporting(organisation('a'), organisation('b')));
    const renamed = { orgId: 'b', org: { name: 'Organisation a' }, humanUsers: [person('B')] };
    const { errors, summary } = await instance.import(overwriting(renamed));
    expect({ errors, created: summary.created, failed: summary.failed }).toEqual({
      errors: [{ type: 'org', id: 'b', message: 'ID=V3-DKcYh Message=Errors.Org.AlreadyExists' }],
      created: { humanUsers: 1 },
      failed: { org: 1 },
    });
  });
});
