import { describe, expect, it } from 'vitest';
import { changeRole } from '../../../shared/accounts/members.ts';
import { issueToken } from '../../../shared/accounts/personalAccessTokens.ts';
import { createMigrationUser } from '../../../shared/accounts/serviceUsers.ts';
import { storeUnavailable } from '../../../shared/errors/storeErrors.ts';
import type { Collection, Store } from '../../../shared/store/store.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { servedInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { hookedStore } from '../../support/stores/watchedStore.ts';

const ACTIVE = { state: 'USER_STATE_ACTIVE' };
const inState = (state: object, user: object = {}) =>
  organisation('O', {
    humanUsers: [{ ...person('anna', user), ...state }],
    machineUsers: [{ userId: 'robot', user: { userName: 'robot', name: 'Robot' }, ...state }],
  });
const overwriting = (org: object) => ({ on_conflict: 'overwrite', data_orgs: { orgs: [org] } });
const kept = (type: string, id: string) => ({
  type,
  id,
  message: 'ID=IMPORT-instanceMemberState Message=Errors.User.InstanceMemberState',
});

async function filled() {
  const store = await openTestStore();
  const instance = await testInstance(store);
  await instance.import({ data_orgs: { orgs: [inState(ACTIVE)] } });
  const give = (userId: string, role: string) =>
    changeRole(store, { userId, orgId: undefined }, role, 'add', new Date());
  return { store, instance, give };
}

/** A store in which something happens once, between the reads of a transaction that updates a document and its commit. */
function onceBeforeUpdate(store: Store, collection: Collection, work: () => Promise<unknown>) {
  let hasHappened = false;
  const racing = hookedStore(store, async (writes) => {
    if (hasHappened || !writes.some(({ type, key }) => type === 'update' && key.collection === collection)) return;
    hasHappened = true;
    await work();
  });
  return { racing, hasHappened: () => hasHappened };
}

describe('a user with a role of the instance', () => {
  it.each(['IAM_OWNER', 'IAM_OWNER_VIEWER', 'IAM_LOGIN_CLIENT'])(
    'keeps its state under "overwrite", as %s',
    async (role) => {
      const { instance, give } = await filled();
      await give('anna', role);
      await give('robot', role);
      const before = (await instance.export()).orgs;
      for (const state of ['USER_STATE_LOCKED', 'USER_STATE_INITIAL', 'USER_STATE_DELETED']) {
        for (const dry_run of [true, false]) {
          const { errors } = await instance.import({ ...overwriting(inState({ state })), dry_run });
          expect(errors).toEqual([kept('human_user', 'anna'), kept('machine_user', 'robot')]);
        }
      }
      expect((await instance.export()).orgs).toEqual(before);
    },
  );

  it('is overwritten where the state stays', async () => {
    const { instance, give } = await filled();
    await give('anna', 'IAM_OWNER');
    const profile = { profile: { firstName: 'Anna', lastName: 'B' } };
    for (const state of [{}, ACTIVE]) {
      const { errors } = await instance.import(overwriting(inState(state, profile)));
      expect(errors).toBeUndefined();
    }
    const [exported] = (await instance.export()).orgs;
    expect(exported?.humanUsers).toMatchObject([{ ...ACTIVE, user: profile }]);
  });

  it('is one that gets the role between the read and the commit', async () => {
    const { store, instance, give } = await filled();
    const { racing, hasHappened } = onceBeforeUpdate(store, 'users', () => give('anna', 'IAM_OWNER_VIEWER'));
    const served = servedInstance(store, instance, { store: racing });
    const { errors, summary } = await served.import(overwriting(inState({ state: 'USER_STATE_LOCKED' })));
    expect(hasHappened()).toBe(true);
    expect(errors).toEqual([kept('human_user', 'anna')]);
    expect(summary.overwritten).toEqual({ machineUsers: 1 });
  });
});

const orgInState = (orgState: string, name = 'O') => organisation('O', { orgState, org: { name } });
const keptOrganisation = {
  type: 'org',
  id: 'O',
  message: 'ID=IMPORT-instanceMemberOrgState Message=Errors.Org.InstanceMemberState',
};
const STATES = ['ORG_STATE_INACTIVE', 'ORG_STATE_REMOVED'];

describe('an organisation that has a member of the instance', () => {
  it.each(['IAM_OWNER', 'IAM_OWNER_VIEWER', 'IAM_LOGIN_CLIENT'])(
    'keeps its state under "overwrite", in every form of the file, in a dry run and sent again, for an %s',
    async (role) => {
      const { instance, give } = await filled();
      await give('robot', role);
      const before = (await instance.export()).orgs;
      for (const orgState of STATES)
        for (const field of ['data_orgs', 'data_orgsv1'])
          for (const dry_run of [true, false, false]) {
            const body = { on_conflict: 'overwrite', [field]: { orgs: [orgInState(orgState)] }, dry_run };
            expect((await instance.import(body)).errors).toEqual([keptOrganisation]);
          }
      expect((await instance.export()).orgs).toEqual(before);
    },
  );

  it('is overwritten where the state stays, and where nobody is a member any more', async () => {
    const { store, instance, give } = await filled();
    await give('anna', 'IAM_OWNER');
    expect((await instance.import(overwriting(orgInState('ORG_STATE_ACTIVE', 'N')))).errors).toBeUndefined();
    await changeRole(store, { userId: 'anna', orgId: undefined }, 'IAM_OWNER', 'remove', new Date());
    expect((await instance.import(overwriting(orgInState('ORG_STATE_INACTIVE', 'N')))).errors).toBeUndefined();
    const orgs = (await instance.export()).orgs;
    expect(orgs).toMatchObject([{ org: { name: 'N' }, orgState: 'ORG_STATE_INACTIVE' }]);
  });

  it('keeps its state from a call that resumes one of before', async () => {
    const { store, instance, give } = await filled();
    let fails = true;
    const failing = hookedStore(store, async (writes) => {
      if (!fails || !writes.some(({ key }) => key.collection === 'projects')) return;
      fails = false;
      throw storeUnavailable(new Error('injected'));
    });
    const served = servedInstance(store, instance, { store: failing });
    const projects = [{ projectId: 'P', project: { name: 'P' } }];
    const body = overwriting({ ...orgInState('ORG_STATE_ACTIVE'), projects });
    expect((await served.refusedImport(body)).status).toBe(503);
    await give('robot', 'IAM_OWNER');
    const inactive = overwriting({ ...orgInState('ORG_STATE_INACTIVE'), projects });
    const { errors, summary } = await served.import(inactive);
    expect({ errors, created: summary.created }).toEqual({ errors: [keptOrganisation], created: { projects: 1 } });
  });

  it('is one in which a user gets a role between the read and the commit', async () => {
    const { store, instance, give } = await filled();
    const { racing, hasHappened } = onceBeforeUpdate(store, 'organisations', () => give('anna', 'IAM_OWNER_VIEWER'));
    const served = servedInstance(store, instance, { store: racing });
    expect((await served.import(overwriting(orgInState('ORG_STATE_INACTIVE')))).errors).toEqual([keptOrganisation]);
    expect(hasHappened()).toBe(true);
  });

  it('is the default one, too, in which a user for a migration is created between the read and the commit', async () => {
    const { store, instance, give } = await filled();
    await give('robot', 'IAM_OWNER');
    const { token } = await issueToken(store, 'robot', new Date(), 60_000);
    const { orgId, userId } = instance;
    await changeRole(store, { userId, orgId: undefined }, 'IAM_OWNER', 'remove', new Date());
    const { racing, hasHappened } = onceBeforeUpdate(store, 'organisations', () =>
      createMigrationUser(store, ['import'], 60_000, new Date()),
    );
    const served = servedInstance(store, { orgId: 'O', userId: 'robot', token }, { store: racing });
    const inactive = organisation(orgId, { org: { name: 'test' }, orgState: 'ORG_STATE_INACTIVE' });
    expect((await served.import(overwriting(inactive))).errors).toEqual([{ ...keptOrganisation, id: orgId }]);
    expect(hasHappened()).toBe(true);
  });
});
