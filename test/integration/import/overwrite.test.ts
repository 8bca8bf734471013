import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { changeRole } from '../../../shared/accounts/members.ts';
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

  it('keeps the stored state under "overwrite", and is unchanged the second time', async () => {
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

  it('differs for "report", and a user gets the state of the file, but an organisation does not', async () => {
    const instance = await testInstance(await openTestStore());
    await instance.import(reporting(locked));
    const { errors } = await instance.import(reporting(file({}, 'first', {})));
    expect(errors?.map(({ type }) => type)).toEqual(['org', 'human_user', 'machine_user']);
    const active = file({ state: 'USER_STATE_ACTIVE' }, 'first', { orgState: 'ORG_STATE_ACTIVE' });
    const { summary: after } = await instance.import(overwriting(active));
    expect(after).toMatchObject({ overwritten: { humanUsers: 1, machineUsers: 1 }, failed: { org: 1 } });
  });
});

const owners = z.array(z.looseObject({ userId: z.string(), user: z.looseObject({ userName: z.string() }) }));

describe("the caller's own user in a file", () => {
  it.each(['LOCKED', 'INACTIVE', 'SUSPEND', 'DELETED'])(
    'cannot get the state %s, and no other field of it changes',
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

describe('another user with a role of the instance', () => {
  it('gets the state of the file, with a warning', async () => {
    const store = await openTestStore();
    const instance = await testInstance(store);
    const inState = (state: string) =>
      organisation('O', { machineUsers: [{ userId: 'robot', user: { userName: 'robot', name: 'Robot' }, state }] });
    await instance.import(reporting(inState('USER_STATE_ACTIVE')));
    await changeRole(store, { userId: 'robot', orgId: undefined }, 'IAM_OWNER', 'add', new Date());
    const { errors, summary } = await instance.import(overwriting(inState('USER_STATE_INACTIVE')));
    expect({ errors, overwritten: summary.overwritten }).toEqual({
      errors: undefined,
      overwritten: { machineUsers: 1 },
    });
    expect(summary.warnings).toContainEqual({
      type: 'state',
      id: 'robot',
      reason: 'state_changed',
      message: 'state changed: USER_STATE_ACTIVE to USER_STATE_INACTIVE',
    });
  });
});

describe('an organisation that exists in another state', () => {
  const error = { type: 'org', id: 'O', message: 'ID=IMPORT-orgState Message=Errors.Org.State' };
  const file = (orgState: string, name: string) => ({ orgId: 'O', org: { name }, orgState });

  it.each([
    ['ORG_STATE_INACTIVE', 'data_orgs'],
    ['ORG_STATE_REMOVED', 'data_orgs'],
    ['ORG_STATE_INACTIVE', 'data_orgsv1'],
  ])('is unchanged with an error, and its records are imported: %s in %s', async (orgState, field) => {
    const instance = await testInstance(await openTestStore());
    await instance.import(reporting(file('ORG_STATE_ACTIVE', 'first')));
    const orgs = [{ ...file(orgState, 'second'), humanUsers: [person('new')] }];
    const body = { [field]: { orgs }, on_conflict: 'overwrite' };
    for (const dry_run of [true, false]) {
      const { errors, summary } = await instance.import({ ...body, dry_run });
      expect({ errors, failed: summary.failed, created: summary.created }).toEqual({
        errors: [error],
        failed: { org: 1 },
        created: { humanUsers: 1 },
      });
    }
    const again = await instance.import(body);
    expect({ errors: again.errors, unchanged: again.summary.unchanged }).toEqual({
      errors: [error],
      unchanged: { humanUsers: 1 },
    });
    expect((await instance.export()).orgs).toMatchObject([{ org: { name: 'first' }, orgState: 'ORG_STATE_ACTIVE' }]);
  });

  it('is overwritten if the file has the stored state, or none', async () => {
    const instance = await testInstance(await openTestStore());
    await instance.import(reporting(file('ORG_STATE_INACTIVE', 'first')));
    for (const [name, org] of [
      ['second', file('ORG_STATE_INACTIVE', 'second')],
      ['third', { orgId: 'O', org: { name: 'third' } }],
    ] as const) {
      expect((await instance.import(overwriting(org))).summary.overwritten).toEqual({ org: 1 });
      expect((await instance.export()).orgs).toMatchObject([{ org: { name }, orgState: 'ORG_STATE_INACTIVE' }]);
    }
  });
});

describe('an existing organisation whose new name is taken', () => {
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
