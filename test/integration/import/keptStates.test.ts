import { expect, it } from 'vitest';
import { changeRole } from '../../../shared/accounts/members.ts';
import type { Store } from '../../../shared/store/store.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { servedInstance, testInstance } from '../../support/instances/testInstance.ts';
import { describeStores, openTestStore, type StoreKind } from '../../support/stores/stores.ts';
import { watchedStore } from '../../support/stores/watchedStore.ts';

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

async function filled(kind: StoreKind) {
  const store = await openTestStore(kind);
  const instance = await testInstance(store);
  await instance.import({ data_orgs: { orgs: [inState(ACTIVE)] } });
  const give = (userId: string, role: string) =>
    changeRole(store, { userId, orgId: undefined }, role, 'add', new Date());
  return { store, instance, give };
}

describeStores('a user with a role of the instance', (kind) => {
  it.each(['IAM_OWNER', 'IAM_OWNER_VIEWER', 'IAM_LOGIN_CLIENT'])(
    'keeps its state under "overwrite", as %s',
    async (role) => {
      const { instance, give } = await filled(kind);
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
    const { instance, give } = await filled(kind);
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
    const { store, instance, give } = await filled(kind);
    let isGiven = false;
    const racing: Store = {
      ...watchedStore(store, () => {}),
      transaction: (work) =>
        store.transaction(async (transaction) => {
          let writesUser = false;
          const result = await work({
            ...transaction,
            write: (writes) => {
              writesUser ||= writes.some(({ type, key }) => type === 'update' && key.collection === 'users');
              transaction.write(writes);
            },
          });
          if (writesUser && !isGiven) {
            isGiven = true;
            await give('anna', 'IAM_OWNER_VIEWER');
          }
          return result;
        }),
    };
    const served = servedInstance(store, instance, { store: racing });
    const { errors, summary } = await served.import(overwriting(inState({ state: 'USER_STATE_LOCKED' })));
    expect(isGiven).toBe(true);
    expect(errors).toEqual([kept('human_user', 'anna')]);
    expect(summary.overwritten).toEqual({ machineUsers: 1 });
  });
});
