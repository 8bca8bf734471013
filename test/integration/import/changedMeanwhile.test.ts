import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { changeRole } from '../../../shared/accounts/members.ts';
import { changeLock } from '../../../shared/accounts/userLocks.ts';
import { organisationMemberKey, userKey } from '../../../shared/auth/authorise.ts';
import type { Store } from '../../../shared/store/store.ts';
import { describeWithFirestore } from '../../support/emulators/withFirestore.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { servedInstance, type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openProxiedStore } from '../../support/stores/proxiedStore.ts';
import { describeStores, openTestStore } from '../../support/stores/stores.ts';
import { hookedStore } from '../../support/stores/watchedStore.ts';

const orgs = (userName: string) => [
  organisation('A', { humanUsers: [{ ...person('U'), user: { ...person('U').user, userName }, otpEmail: true }] }),
];
const overwriting = { on_conflict: 'overwrite', data_orgs: { orgs: orgs('renamed') } };

async function removeFactor({ app, token }: TestInstance): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  expect((await app.request('/v2/users/U/otp_email', { method: 'DELETE', headers })).status).toBe(200);
}

/** The clock of another machine, which is behind this one. */
function slowClock(): Date {
  return new Date(Date.now() - 60_000);
}

/** The calls that protect, none of which takes the lock. */
const calls: readonly [string, (store: Store, instance: TestInstance) => Promise<unknown>, unknown[], 'locked'?][] = [
  ['a lock', (store) => changeLock(store, 'U', 'lock', slowClock(), false), ['USER_STATE_LOCKED', true]],
  [
    'a lock of a person who is locked',
    (store) => changeLock(store, 'U', 'lock', slowClock(), false),
    ['USER_STATE_LOCKED', true],
    'locked',
  ],
  ['the removal of a factor', (_store, instance) => removeFactor(instance), ['USER_STATE_ACTIVE', undefined]],
];

describeStores('an overwriting import', (kind) => {
  describe.each(calls)('does not undo %s', (_name, call, expected, before) => {
    it('that began after the import', async () => {
      const store = await openTestStore(kind);
      const instance = await testInstance(store);
      await instance.import({ data_orgs: { orgs: orgs('first') } });
      if (before === 'locked') await changeLock(store, 'U', 'lock', slowClock(), false);
      let called: Promise<unknown> | undefined;
      const during = hookedStore(store, async (writes) => {
        if (called !== undefined || !writes.some(({ key }) => key.collection === 'users')) return;
        called = call(store, instance);
        await called;
      });
      const { errors, reasons } = await servedInstance(during, instance).import(overwriting);
      await called;
      expect(errors).toMatchObject([{ type: 'human_user', id: 'U' }]);
      expect(reasons).toMatchObject([{ reason: 'changed_meanwhile' }]);
      const [user] = await store.getMany([userKey('U')]);
      expect([user?.state, user?.otpEmail]).toEqual(expected);
      // The next import has seen the call.
      expect((await instance.import(overwriting)).summary.overwritten).toEqual({ humanUsers: 1 });
    });
  });
});

/** The moments at which a member is removed: when the import takes the lock, or before a commit to a collection. */
const moments: readonly [string, string, (organisations: object[]) => object][] = [
  ['when the lock is taken', 'lock', (organisations) => ({ data_orgs: { orgs: organisations } })],
  ['before its phase', 'users', (organisations) => ({ on_conflict: 'overwrite', data_orgs: { orgs: organisations } })],
  ['before its phase, with report', 'users', (organisations) => ({ data_orgs: { orgs: organisations } })],
  [
    'when its batch is about to be committed',
    'members',
    (organisations) => ({
      data_orgs: { orgs: organisations.map((one) => ({ ...one, org: undefined, humanUsers: [] })) },
    }),
  ],
];

describeStores('an import', (kind) => {
  it.each(moments)('does not create a member anew who is removed %s', async (_when, collection, requestOf) => {
    const store = await openTestStore(kind);
    const instance = await testInstance(store);
    const orgMembers = ['U', 'V'].map((userId) => ({ userId, roles: ['ORG_OWNER'] }));
    const people = ['U', 'V'].map((userId) => person(userId));
    await instance.import({
      data_orgs: { orgs: [organisation('A', { humanUsers: people, orgMembers: orgMembers.slice(0, 1) })] },
    });
    let removal: Promise<void> | undefined;
    const remove = () => {
      removal ??= changeRole(store, { userId: 'U', orgId: 'A' }, 'ORG_OWNER', 'remove', slowClock());
      return removal;
    };
    const hooked = hookedStore(store, async (writes) => {
      if (writes.some(({ key }) => key.collection === collection)) await remove();
    });
    const lock: Store['lock'] = {
      take: async (request) => {
        const held = await store.lock.take(request);
        await remove();
        return held;
      },
    };
    const during = collection === 'lock' ? { ...hooked, lock } : hooked;
    const request = requestOf([organisation('A', { humanUsers: [...people, person('W')], orgMembers })]);
    const { errors, reasons, summary } = await servedInstance(during, instance).import(request);
    await removal;
    expect(errors).toMatchObject([{ type: 'org_member', id: 'A_U' }]);
    expect(reasons).toMatchObject([{ reason: 'changed_meanwhile' }]);
    expect(summary.created).toMatchObject({ orgMembers: 1 });
    const members = await store.getMany(['U', 'V'].map((userId) => organisationMemberKey('A', userId)));
    expect(members.map((member) => member !== undefined)).toEqual([false, true]);
    // The next import has seen the removal.
    expect((await instance.import(request)).summary.created).toEqual({ orgMembers: 1 });
  });
});

describeWithFirestore('an overwriting import whose commit the database aborts because of a lock', () => {
  it('reads the lock and does not undo it', async () => {
    const { direct, store, network } = await openProxiedStore();
    const instance = await testInstance(direct);
    await instance.import({ data_orgs: { orgs: orgs('first') } });
    vi.spyOn(Math, 'random').mockReturnValue(0.02);
    onTestFinished(() => void vi.restoreAllMocks());
    const aborted = { method: 'Commit', isForwarded: false, status: 10 } as const;
    const meanwhile = () => changeLock(direct, 'U', 'lock', slowClock(), false);
    let isStruck = false;
    const during = hookedStore(store, async (writes) => {
      if (isStruck || !writes.some(({ key }) => key.collection === 'users')) return;
      isStruck = true;
      network.strike({ ...aborted, meanwhile }, ...Array.from({ length: 8 }, () => aborted));
    });
    const { errors, reasons } = await servedInstance(during, instance).import(overwriting);
    expect(network.isSpent()).toBe(true);
    expect(errors).toMatchObject([{ type: 'human_user', id: 'U' }]);
    expect(reasons).toMatchObject([{ reason: 'changed_meanwhile' }]);
    expect((await direct.getMany([userKey('U')]))[0]?.state).toBe('USER_STATE_LOCKED');
  });
});
