import { beforeEach, describe, expect, it } from 'vitest';
import { type ListedMember, listMembers } from '../../../cli/accounts/listing.ts';
import { createServiceUser } from '../../../cli/accounts/serviceUsers.ts';
import { changeRole } from '../../../shared/accounts/memberships.ts';
import { enableOtpEmail } from '../../../shared/accounts/userAccounts.ts';
import { instanceMemberKey, organisationMemberKey, userKey } from '../../../shared/store/documentKeys.ts';
import type { Store } from '../../../shared/store/store.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { interruptedStore } from '../../support/stores/interruptedStore.ts';
import { violationsOf } from '../../support/stores/invariants.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

describe('a service user that is created during another change', () => {
  it("claims its name by the organisation's new domain policy", async () => {
    const store = await openTestStore();
    const instance = await testInstance(store);
    await instance.import({ data_orgs: { orgs: [organisation('O', {})] } });
    const domainPolicy = { orgId: 'O', userLoginMustBeDomain: true };
    const changing = async () =>
      void (await instance.import({ data_orgs: { orgs: [organisation('O', { domainPolicy })] } }));
    await createServiceUser(interruptedStore(store, { commit: 0, when: 'before' }, changing), 'robot', 'O', new Date());
    const database = await readDatabase(store);
    expect(database.get('settings')).toHaveLength(1);
    expect(violationsOf(database)).toEqual([]);
  });

  it('is not created under a name that is taken meanwhile', async () => {
    const store = await openTestStore();
    await testInstance(store);
    const create = (on: Store) => createServiceUser(on, 'robot', undefined, new Date());
    const taking = async () => void (await create(store));
    const taken = create(interruptedStore(store, { commit: 0, when: 'before' }, taking));
    await expect(taken).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });
});

async function membersOf(store: Store) {
  const members: ListedMember[] = [];
  for await (const member of listMembers(store, undefined)) members.push(member);
  return members;
}

// The transactions of both stores are alike, so one store is enough.
describe('a membership', () => {
  let store: Store;
  let instance: TestInstance;
  beforeEach(async () => {
    store = await openTestStore(sqlite);
    instance = await testInstance(store);
    await instance.import({
      data_orgs: { orgs: [organisation('O', { humanUsers: [person('ada'), person('gone')] })] },
    });
    await store.commit([{ type: 'update', key: userKey('gone'), fields: { state: 'USER_STATE_DELETED' } }]);
  });

  it.each([
    ['the instance', undefined, 'IAM_OWNER', 'IAM_USER_MANAGER'],
    ['an organisation', 'O', 'ORG_OWNER', 'ORG_USER_MANAGER'],
  ])(
    'on %s keeps its creation date and counts the calls that change it, even those that add a role which it has',
    async (_where, orgId, first, second) => {
      const membership = { userId: 'ada', orgId };
      const [monday, tuesday] = [new Date('2026-11-16T08:00:00Z'), new Date('2026-11-17T08:00:00Z')];
      const wednesday = new Date('2026-11-18T08:00:00Z');
      const key = orgId === undefined ? instanceMemberKey('ada') : organisationMemberKey(orgId, 'ada');
      const read = async () => (await store.getMany([key], ['sequence', 'createdAt', 'changedAt']))[0];
      await changeRole(store, membership, first, 'add', monday);
      const [createdAt, changedAt] = [monday.toISOString(), tuesday.toISOString()];
      expect(await read()).toMatchObject({ sequence: 1, createdAt, changedAt: createdAt });
      await changeRole(store, membership, second, 'add', tuesday);
      expect(await read()).toMatchObject({ sequence: 2, createdAt, changedAt });
      await changeRole(store, membership, second, 'add', wednesday);
      expect(await read()).toMatchObject({ sequence: 3, createdAt, changedAt: wednesday.toISOString() });
      await changeRole(store, membership, first, 'remove', tuesday);
      expect(await read()).toMatchObject({ sequence: 4, createdAt });
      expect(violationsOf(await readDatabase(store))).toEqual([]);
      await changeRole(store, membership, second, 'remove', tuesday);
      expect(await read()).toBeUndefined();
    },
  );

  it.each([
    'IAM_OWNER_VIEWER',
    'IAM_ADMIN_IMPERSONATOR',
    'ORG_OWNER_VIEWER',
    'ORG_SETTINGS_MANAGER',
    'SELF_MANAGEMENT_GLOBAL',
  ])('accepts the role %s, as does an import for an organisation', async (role) => {
    const target = await testInstance(await openTestStore(sqlite), 'target');
    const orgId = role.startsWith('IAM_') ? undefined : 'O';
    await changeRole(store, { userId: 'ada', orgId }, role, 'add', new Date());
    expect(await membersOf(store)).toContainEqual({ userId: 'ada', ...(orgId ? { orgId } : {}), roles: [role] });
    const { orgs } = await instance.export();
    const { summary } = await target.import({ data_orgs: { orgs } });
    expect(summary).toMatchObject({ created: { org: 1, ...(orgId ? { orgMembers: 1 } : {}) }, failed: {} });
  });

  it.each([
    ['IAM_QUEEN', undefined, 'the instance: choose one of IAM_OWNER, IAM_OWNER_VIEWER, IAM_ORG_MANAGER, '],
    ['ORG_OWNER', undefined, 'the instance: choose one of IAM_OWNER, '],
    ['IAM_OWNER', 'O', 'an organisation: choose one of ORG_OWNER, ORG_USER_MANAGER, ORG_OWNER_VIEWER, '],
    ['PROJECT_OWNER', 'O', 'an organisation: choose one of ORG_OWNER, '],
  ])('rejects the role %s, and lists the known ones', async (role, orgId, message) => {
    const refused = await changeRole(store, { userId: 'ada', orgId }, role, 'add', new Date()).catch(String);
    expect(refused).toContain(`invalid role ${role} for ${message}`);
  });

  it('rejects a role beside another role if an import would reject the pair', async () => {
    const change = (role: string, kindOfChange: 'add' | 'remove') =>
      changeRole(store, { userId: 'ada', orgId: 'O' }, role, kindOfChange, new Date());
    await change('ORG_OWNER', 'add');
    expect(await change('SELF_MANAGEMENT_GLOBAL', 'add').catch(String)).toBe(
      'IdentityError: user ada cannot have both SELF_MANAGEMENT_GLOBAL and ORG_OWNER: remove one of the roles',
    );
    await change('ORG_OWNER', 'remove');
    await change('SELF_MANAGEMENT_GLOBAL', 'add');
    expect(await membersOf(store)).toContainEqual({ userId: 'ada', orgId: 'O', roles: ['SELF_MANAGEMENT_GLOBAL'] });
  });

  it('is not added in an organisation that does not exist, or to a user in the state DELETED', async () => {
    const add = (userId: string, orgId: string) =>
      changeRole(store, { userId, orgId }, 'ORG_OWNER', 'add', new Date()).catch(String);
    expect(await add('ada', '99')).toContain('organisation 99 not found');
    expect(await add('gone', 'O')).toContain('user gone not found');
    expect(await enableOtpEmail(store, 'gone', new Date()).catch(String)).toContain('user gone not found');
  });
});
