import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { rekey } from '../../../cli/accounts/masterKeyRotation.ts';
import { changeLock } from '../../../cli/accounts/userLocks.ts';
import { changeRole } from '../../../shared/accounts/memberships.ts';
import { parseRoles } from '../../../shared/auth/authorise.ts';
import { organisationMemberKey, userKey } from '../../../shared/store/documentKeys.ts';
import { openKeyring, type StoreLocation } from '../../../shared/store/openStore.ts';
import type { Store } from '../../../shared/store/store.ts';
import { describeWithFirestore } from '../../support/emulators/withFirestore.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { importReport, servedInstance, type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openProxiedStore } from '../../support/stores/proxiedStore.ts';
import { describeStores, openTestStore, sqlite } from '../../support/stores/stores.ts';
import { hookedStore, withSmallCommits } from '../../support/stores/watchedStore.ts';

const orgs = (userName: string, fields: object = {}) => [
  organisation('A', { humanUsers: [{ ...person('U', { userName }), otpEmail: true, ...fields }] }),
];
const overwriting = { on_conflict: 'overwrite', data_orgs: { orgs: orgs('renamed') } };
const member = (...roles: readonly string[]) => [
  organisation('A', { humanUsers: [person('U')], orgMembers: [{ userId: 'U', roles }] }),
];

async function removeFactor({ app, token }: TestInstance): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  expect((await app.request('/v2/users/U/otp_email', { method: 'DELETE', headers })).status).toBe(200);
}

/** The clock of another machine, which is behind this one. */
function slowClock(): Date {
  return new Date(Date.now() - 60_000);
}

/** The location for processes with a new master key: a variable lists it first, a file need not change. */
function withNewKey(location: StoreLocation): StoreLocation {
  if (location.masterKey === undefined) return location;
  return { ...location, masterKey: `${randomBytes(32).toString('base64')},${location.masterKey}` };
}

const lockUser = (store: Store) => changeLock(store, 'U', 'lock', slowClock(), false);
const unlockUser = (store: Store) => changeLock(store, 'U', 'unlock', slowClock(), false);
const readUser = async (store: Store) => {
  const [user] = await store.getMany([userKey('U')]);
  return [user?.state, user?.otpEmail];
};
const addRole = (store: Store) =>
  changeRole(store, { userId: 'U', orgId: 'A' }, 'ORG_USER_MANAGER', 'add', slowClock());
const removeRole = (store: Store) =>
  changeRole(store, { userId: 'U', orgId: 'A' }, 'ORG_USER_MANAGER', 'remove', slowClock());
const readMember = async (store: Store) => parseRoles((await store.getMany([organisationMemberKey('A', 'U')]))[0]);

interface Call {
  readonly call: (store: Store, instance: TestInstance) => Promise<unknown>;
  /** What is stored, and what the import has. */
  readonly stored: object[];
  readonly sent: object[];
  readonly before?: (store: Store) => Promise<unknown>;
  readonly subject: { readonly type: string; readonly id: string };
  /** What the call sets, and stays. */
  readonly read: (store: Store) => Promise<unknown>;
  readonly expected: unknown;
}

const ofUser = {
  stored: orgs('first'),
  sent: orgs('renamed'),
  subject: { type: 'human_user', id: 'U' },
  read: readUser,
};
const ofMember = { subject: { type: 'org_member', id: 'A_U' }, read: readMember };

/** The calls that never wait for an import. */
const calls: Readonly<Record<string, Call>> = {
  'a lock': { ...ofUser, call: lockUser, expected: ['USER_STATE_LOCKED', true] },
  'a lock of a person who is locked': {
    ...ofUser,
    before: lockUser,
    call: lockUser,
    expected: ['USER_STATE_LOCKED', true],
  },
  'an unlocking of a person who is active': { ...ofUser, call: unlockUser, expected: ['USER_STATE_ACTIVE', true] },
  'the removal of a factor': {
    ...ofUser,
    call: (_store, instance) => removeFactor(instance),
    expected: ['USER_STATE_ACTIVE', undefined],
  },
  'the addition of a role': {
    ...ofMember,
    stored: member('ORG_OWNER'),
    sent: member('ORG_OWNER_VIEWER'),
    call: addRole,
    expected: ['ORG_OWNER', 'ORG_USER_MANAGER'],
  },
  'the addition of a role that is held': {
    ...ofMember,
    stored: member('ORG_OWNER', 'ORG_USER_MANAGER'),
    sent: member('ORG_OWNER'),
    call: addRole,
    expected: ['ORG_OWNER', 'ORG_USER_MANAGER'],
  },
  'the removal of a role': {
    ...ofMember,
    stored: member('ORG_OWNER', 'ORG_USER_MANAGER'),
    sent: member('ORG_USER_MANAGER'),
    call: removeRole,
    expected: ['ORG_OWNER'],
  },
};

/** Returns a store with an action before the import takes the lock, for which it may wait. */
function beforeLock(store: Store, action: () => Promise<unknown>): Store {
  const lock: Store['lock'] = {
    ...store.lock,
    take: async (request) => {
      await action();
      return store.lock.take(request);
    },
  };
  return withSmallCommits(store, () => ({ lock }));
}

/** Returns a store with an action before the first commit to a collection. */
function beforeCommit(store: Store, collection: string, action: () => Promise<unknown>): Store {
  let acted: Promise<unknown> | undefined;
  return hookedStore(store, async (writes) => {
    if (!writes.some(({ key }) => key.collection === collection)) return;
    acted ??= action();
    await acted;
  });
}

/** Imports with a body that arrives only after an action, which begins when the service reads the body. */
async function importSlowly({ app, token }: TestInstance, request: object, action: () => Promise<unknown>) {
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    await action();
    controller.enqueue(Buffer.from(JSON.stringify(request)));
    controller.close();
  };
  const response = await app.request('/admin/v1/import', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: new ReadableStream({ pull }, { highWaterMark: 0 }),
    duplex: 'half',
  });
  return importReport.parse(await response.json());
}

describeStores('an overwriting import', (kind) => {
  describe.each(Object.entries(calls))('does not undo %s', (name, { call, stored, sent, before, ...facts }) => {
    // How a database finds the change of a call does not depend on the moment.
    const early =
      kind === sqlite || name === 'a lock' ? (['while its body arrives', 'while it waits for the lock'] as const) : [];
    it.each([...early, 'before its commit'] as const)('%s', async (moment) => {
      const store = await openTestStore(kind);
      const instance = await testInstance(store);
      await instance.import({ data_orgs: { orgs: stored } });
      await before?.(store);
      const action = () => call(store, instance);
      const { subject, read, expected } = facts;
      const collection = subject.type === 'org_member' ? 'members' : 'users';
      const overwrite = { on_conflict: 'overwrite', data_orgs: { orgs: sent } };
      const imported = {
        'while its body arrives': () => importSlowly(instance, overwrite, action),
        'while it waits for the lock': () => servedInstance(beforeLock(store, action), instance).import(overwrite),
        'before its commit': () => servedInstance(beforeCommit(store, collection, action), instance).import(overwrite),
      };
      const { errors, reasons } = await imported[moment]();
      expect(errors).toMatchObject([subject]);
      expect(reasons).toMatchObject([{ reason: 'changed_meanwhile' }]);
      expect(await read(store)).toEqual(expected);
      // The next import has seen the call.
      expect(Object.values((await instance.import(overwrite)).summary.overwritten ?? {})).toEqual([1]);
    });
  });

  it.each([
    ['overwrites a person', 'before it begins', { overwritten: { humanUsers: 1 } }],
    ['does not undo a lock', 'while it waits', { failed: { humanUsers: 1 } }],
  ])('%s who was locked %s for a rotation of the master key', async (_does, moment, summary) => {
    const location = await kind.newLocation();
    const otpCode = 'JBSWY3DPEHPK3PXP';
    const secret = orgs('first').map((one) => ({
      ...one,
      humanUsers: [{ ...person('U'), user: { ...person('U').user, otpCode } }],
    }));
    const initialised = await testInstance(await openTestStore(kind, location));
    await initialised.import({ data_orgs: { orgs: secret } });
    const rotated = withNewKey(location);
    const store = await openTestStore(kind, rotated);
    const { signal } = new AbortController();
    const rotate = async () => {
      if (moment === 'while it waits') await lockUser(store);
      const options = { signal, onStep: () => {}, fenceMs: 0 };
      expect(await rekey(store, openKeyring(rotated), options)).toMatchObject({ documents: 1 });
    };
    if (moment === 'before it begins') await lockUser(store);
    const report = await servedInstance(beforeLock(store, rotate), initialised).import(overwriting);
    expect(report.summary).toMatchObject(summary);
    expect(report.reasons).toMatchObject(moment === 'while it waits' ? [{ reason: 'changed_meanwhile' }] : []);
    // The file has no state: an overwrite keeps the stored one.
    expect(await readUser(store)).toEqual(['USER_STATE_LOCKED', moment === 'while it waits' ? undefined : true]);
  });

  it('does not undo a lock that came while it waited, although another import has overwritten the person since', async () => {
    const store = await openTestStore(kind);
    const instance = await testInstance(store);
    await instance.import({ data_orgs: { orgs: orgs('first') } });
    // This overwrite keeps the lock, because its file contains no states.
    const other = { on_conflict: 'overwrite', data_orgs: { orgs: orgs('other') } };
    const lockAndOverwrite = async () => {
      await lockUser(store);
      expect((await instance.import(other)).summary.overwritten).toEqual({ humanUsers: 1 });
    };
    const active = orgs('renamed', { state: 'USER_STATE_ACTIVE' });
    const unlocking = { on_conflict: 'overwrite', data_orgs: { orgs: active } };
    const { reasons } = await servedInstance(beforeLock(store, lockAndOverwrite), instance).import(unlocking);
    expect(reasons).toMatchObject([{ reason: 'changed_meanwhile' }]);
    expect(await readUser(store)).toEqual(['USER_STATE_LOCKED', true]);
    expect((await instance.import(unlocking)).summary.overwritten).toEqual({ humanUsers: 1 });
  });

  it('does not give a removed member roles again, although another import has created the member since', async () => {
    const store = await openTestStore(kind);
    const instance = await testInstance(store);
    await instance.import({ data_orgs: { orgs: member('ORG_USER_MANAGER') } });
    const other = { on_conflict: 'overwrite', data_orgs: { orgs: member('ORG_OWNER_VIEWER') } };
    const removeAndCreate = async () => {
      await removeRole(store);
      expect((await instance.import(other)).summary.created).toEqual({ orgMembers: 1 });
    };
    const request = { on_conflict: 'overwrite', data_orgs: { orgs: member('ORG_USER_MANAGER') } };
    const { reasons } = await servedInstance(beforeLock(store, removeAndCreate), instance).import(request);
    expect(reasons).toMatchObject([{ reason: 'changed_meanwhile' }]);
    expect(await readMember(store)).toEqual(['ORG_OWNER_VIEWER']);
    expect((await instance.import(request)).summary.overwritten).toEqual({ orgMembers: 1 });
  });

  it('overwrites what another import has written while it waited for the lock', async () => {
    const store = await openTestStore(kind);
    const instance = await testInstance(store);
    await instance.import({ data_orgs: { orgs: orgs('first') } });
    const other = { on_conflict: 'overwrite', data_orgs: { orgs: orgs('other') } };
    const during = beforeLock(store, () => instance.import(other));
    expect((await servedInstance(during, instance).import(overwriting)).summary.overwritten).toEqual({ humanUsers: 1 });
  });
});

/**
 * The moments at which a member is removed: while the import waits for the lock, or before a commit to a collection.
 */
const moments: readonly [string, string, (organisations: object[]) => object][] = [
  ['while it waits for the lock', 'lock', (organisations) => ({ data_orgs: { orgs: organisations } })],
  ['before its phase', 'users', (organisations) => ({ on_conflict: 'overwrite', data_orgs: { orgs: organisations } })],
  ['before its phase, with report', 'users', (organisations) => ({ data_orgs: { orgs: organisations } })],
  [
    'when its batch is about to be committed',
    'members',
    (organisations) => ({
      on_conflict: 'skip',
      data_orgs: {
        orgs: organisations.map((one) => ({
          ...one,
          ...{ org: undefined, humanUsers: [] },
          orgMembers: ['U', 'V'].map((userId) => ({ userId, roles: ['ORG_OWNER_VIEWER'] })),
        })),
      },
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
      removal = changeRole(store, { userId: 'U', orgId: 'A' }, 'ORG_OWNER', 'remove', slowClock());
      return removal;
    };
    const during = collection === 'lock' ? beforeLock(store, remove) : beforeCommit(store, collection, remove);
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
