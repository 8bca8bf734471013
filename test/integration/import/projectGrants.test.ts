import { describe, expect, it } from 'vitest';
import { storeUnavailable } from '../../../shared/errors/storeErrors.ts';
import type { Snapshot, Store } from '../../../shared/store/store.ts';
import { organisation, person, unproved } from '../../support/fixtures/organisations.ts';
import { servedInstance, testInstance } from '../../support/instances/testInstance.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { interruptedStore } from '../../support/stores/interruptedStore.ts';
import { violationsOf } from '../../support/stores/invariants.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { hookedStore, repeatingStore, watchedStore } from '../../support/stores/watchedStore.ts';

const USERS = 300;
const overwriting = (...orgs: object[]) => ({ data_orgs: { orgs }, on_conflict: 'overwrite' });
const role = (projectId: string, roleKey: string) => ({ projectId, roleKey, displayName: roleKey });
const projectGrant = (projectId: string, grantedOrgId: string, ...roleKeys: string[]) => ({
  grantId: 'G',
  projectGrant: { projectId, grantedOrgId, roleKeys },
});
/** An organisation with two projects, one of which it grants. */
const owner = (grant: object) =>
  organisation('owner', {
    projects: ['P', 'Q'].map((projectId) => ({ projectId, project: { name: projectId } })),
    projectRoles: [role('P', 'reader'), role('P', 'writer')],
    projectGrants: [grant],
  });
const userGrant = (userId: string, ...roleKeys: string[]) => ({
  userId,
  projectId: 'P',
  projectGrantId: 'G',
  ...(roleKeys.length === 0 ? {} : { roleKeys }),
});
const granted = organisation('granted', {
  humanUsers: Array.from({ length: USERS }, (_, index) => person(`U${index}`)),
  userGrants: [
    userGrant('U0', 'reader'),
    ...Array.from({ length: USERS - 1 }, (_, index) => userGrant(`U${index + 1}`, 'reader', 'writer')),
  ],
});
const readers = organisation('granted', { humanUsers: [person('U0')], userGrants: [userGrant('U0', 'reader')] });
const both = projectGrant('P', 'granted', 'reader', 'writer');
const narrowing = overwriting(owner(projectGrant('P', 'granted', 'reader')));
const error = {
  type: 'project_grant',
  id: 'owner_P_granted',
  message: 'ID=IMPORT-rolesInUse Message=Errors.Project.Grant.RolesInUse',
};
/** The reason of a project grant that keeps a role which user grants use. */
const inUse = (count: number, grant: string, reason = 'roles_in_use') => ({
  type: 'project_grant',
  id: 'owner_P_granted',
  reason,
  params: { roles: 'writer', count: `${count}`, grant },
});

describe('a project grant that is overwritten with fewer roles', () => {
  const prepared = async () => {
    const store = await openTestStore();
    const instance = await testInstance(store);
    expect((await instance.import(overwriting(owner(both), granted, organisation('other')))).errors).toBeUndefined();
    return { store, instance };
  };

  it('is an error with the id of a user grant if user grants use the roles, and writes nothing', async () => {
    const { store, instance } = await prepared();
    const before = await instance.export();
    const watched = watchedStore(store, (writes) => expect(writes).toEqual([]));
    for (const dry_run of [true, false, false]) {
      const { errors, reasons, summary } = await servedInstance(watched, instance).import({ ...narrowing, dry_run });
      expect({ errors, failed: summary.failed }).toEqual({ errors: [error], failed: { projectGrants: 1 } });
      expect(reasons).toEqual([inUse(USERS - 1, 'granted_P_U100')]);
    }
    expect((await instance.export()).manifest.digest).toBe(before.manifest.digest);
  });

  it('is overwritten once no user grant uses the roles: by the second of two imports of one file', async () => {
    const { store, instance } = await prepared();
    const userGrants = Array.from({ length: USERS }, (_, index) => userGrant(`U${index}`, 'reader'));
    const file = overwriting(owner(projectGrant('P', 'granted', 'reader')), { orgId: 'granted', userGrants });
    const first = await instance.import(file);
    expect(first.errors).toEqual([error]);
    expect(first.summary.overwritten).toEqual({ userGrants: USERS - 1 });
    const second = await instance.import(file);
    expect(second.errors).toBeUndefined();
    expect(second.summary).toMatchObject({ overwritten: { projectGrants: 1 }, unchanged: { userGrants: USERS } });
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });

  it('has the user grants of its organisation read once, however many grants lose roles', async () => {
    const store = await openTestStore();
    let scans = 0;
    const counting: Store = {
      ...watchedStore(store, () => {}),
      snapshot: async () => {
        const snapshot = await store.snapshot();
        const scan: Snapshot['scan'] = (range) => {
          if (range.collection === 'userGrants') scans++;
          return snapshot.scan(range);
        };
        return {
          readTime: snapshot.readTime,
          getMany: snapshot.getMany.bind(snapshot),
          scan,
          [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose](),
        };
      },
    };
    const instance = await testInstance(store, 'test', { store: counting });
    const projects = ['P', 'Q', 'R', 'S'];
    const granting = (...roleKeys: string[]) =>
      overwriting(
        organisation('owner', {
          projects: projects.map((projectId) => ({ projectId, project: { name: projectId } })),
          projectRoles: projects.flatMap((projectId) => [role(projectId, 'reader'), role(projectId, 'writer')]),
          projectGrants: projects.map((projectId) => ({
            ...projectGrant(projectId, 'granted', ...roleKeys),
            grantId: projectId,
          })),
        }),
        organisation('granted', {
          humanUsers: [person('U')],
          userGrants: projects.map((id) => ({ userId: 'U', projectId: id, projectGrantId: id, roleKeys })),
        }),
      );
    await instance.import(granting('reader', 'writer'));
    scans = 0;
    const { errors } = await instance.import({ ...granting('reader'), org_ids: ['owner'] });
    expect(errors).toHaveLength(4);
    expect(scans).toBe(1);
    scans = 0;
    expect((await instance.import(granting('reader', 'writer'))).summary.unchanged.projectGrants).toBe(4);
    expect(scans).toBe(0);
  });

  it.each<[string, (store: Store) => Store]>([
    ['', (store) => store],
    [', also when the responses to its commits are lost', repeatingStore],
  ])(
    'keeps the roles of user grants that another import creates between the check and the commit%s',
    async (_what, disturbed) => {
      const store = await openTestStore();
      const instance = await testInstance(store);
      await instance.import(overwriting(owner(both), readers));
      const before = await readDatabase(store);
      const late = { orgId: 'granted', humanUsers: [person('late')], userGrants: [userGrant('late', 'writer')] };
      let created: unknown;
      const racing = hookedStore(store, async (writes) => {
        if (created !== undefined || !writes.some(({ key }) => key.collection === 'projectGrants')) return;
        created = (await instance.import({ data_orgs: { orgs: [late] } })).summary.created;
      });
      const { errors, reasons } = await servedInstance(disturbed(racing), instance).import(narrowing);
      expect(created).toEqual({ humanUsers: 1, userGrants: 1 });
      expect({ errors, reasons }).toEqual({
        errors: [error],
        reasons: [inUse(1, 'granted_P_late')],
      });
      const after = await readDatabase(store);
      expect(violationsOf(after)).toEqual([]);
      expect(after.get('projectGrants')).toEqual(before.get('projectGrants'));
    },
  );

  it.each([
    [[], ['reader']],
    [['reader'], []],
  ])(
    'keeps the role of a user grant if another import leaves %j at the same time, and it leaves %j',
    async (others, own) => {
      const store = await openTestStore();
      const instance = await testInstance(store);
      await instance.import(overwriting(owner(both), organisation('granted')));
      const late = { orgId: 'granted', humanUsers: [person('late')], userGrants: [userGrant('late', 'writer')] };
      const committed = Promise.withResolvers<void>();
      const overtaken = Promise.withResolvers<void>();
      let commits = 0;
      // The other import commits after the user grant is created, and is overtaken before it can restore the roles.
      const slow = hookedStore(store, async (writes) => {
        if (!writes.some(({ key }) => key.collection === 'projectGrants')) return;
        if (++commits === 1) await instance.import({ data_orgs: { orgs: [late] } });
        if (commits !== 2) return;
        committed.resolve();
        await overtaken.promise;
      });
      let other: Promise<unknown> | undefined;
      const racing = hookedStore(store, async (writes) => {
        if (other !== undefined || !writes.some(({ key }) => key.collection === 'projectGrants')) return;
        other = servedInstance(slow, instance).import(overwriting(owner(projectGrant('P', 'granted', ...others))));
        await Promise.race([committed.promise, other]);
      });
      const request = overwriting(owner(projectGrant('P', 'granted', ...own)));
      const { errors } = await servedInstance(racing, instance).import(request);
      overtaken.resolve();
      await other;
      expect(errors).toEqual([error]);
      expect(violationsOf(await readDatabase(store))).toEqual([]);
      expect((await instance.export({ org_ids: ['owner'] })).orgs).toMatchObject([{ projectGrants: [both] }]);
    },
  );

  it.each<[string, request: object]>([
    ['the project grant has the roles again', overwriting(owner(both))],
    ['the user grants no longer use the roles', overwriting({ orgId: 'granted', userGrants: [userGrant('late')] })],
  ])('stays an error after a process ended before it could restore the roles, until %s', async (_what, repair) => {
    const store = await openTestStore();
    const instance = await testInstance(store);
    await instance.import(overwriting(owner(both), readers));
    const late = { orgId: 'granted', humanUsers: [person('late')], userGrants: [userGrant('late', 'writer')] };
    let commits = 0;
    const ending = hookedStore(store, async (writes) => {
      if (!writes.some(({ key }) => key.collection === 'projectGrants')) return;
      if (++commits > 1) throw storeUnavailable({}, { cause: new Error('injected') });
      await instance.import({ data_orgs: { orgs: [late] } });
    });
    expect((await servedInstance(ending, instance).refusedImport(narrowing)).status).toBe(503);
    const before = await readDatabase(store);
    const lacks = inUse(1, 'granted_P_late', 'roles_lacking');
    for (const dry_run of [true, false, false]) {
      const { errors, reasons, summary } = await instance.import({ ...narrowing, dry_run });
      expect({ errors, failed: summary.failed }).toEqual({ errors: [error], failed: { projectGrants: 1 } });
      expect(reasons).toEqual([lacks]);
    }
    expect(await readDatabase(store)).toEqual(before);
    expect((await instance.import(repair)).errors).toBeUndefined();
    expect(violationsOf(await readDatabase(store))).toEqual([]);
    expect((await instance.import(repair)).errors).toBeUndefined();
  });

  it.each([0, 1])(
    'is checked again for user grants that another import is about to create (commit %i)',
    async (commit) => {
      const store = await openTestStore();
      let present = store;
      const shared: Store = {
        getMany: (keys, fields) => present.getMany(keys, fields),
        commit: (writes) => present.commit(writes),
        transaction: (work) => present.transaction(work),
        snapshot: () => present.snapshot(),
        close: () => store.close(),
      };
      const instance = await testInstance(store, 'test', { store: shared });
      await instance.import(overwriting(owner(both), readers));
      let narrowed: Awaited<ReturnType<typeof instance.import>> | undefined;
      present = interruptedStore(store, { commit, when: 'before' }, async () => {
        present = store;
        narrowed = await instance.import(narrowing);
      });
      const late = { humanUsers: [person('late')], userGrants: [userGrant('late', 'writer')] };
      const { errors } = await instance.import({ data_orgs: { orgs: [{ orgId: 'granted', ...late }] } });
      expect(narrowed?.summary.overwritten).toEqual({ projectGrants: 1 });
      expect(errors).toMatchObject([{ type: 'user_grant', message: expect.stringContaining('COMMAND-mm9F4') }]);
      expect(violationsOf(await readDatabase(store))).toEqual([]);
    },
  );
});

describe('a user grant on a granted project', () => {
  const omitting = (userId: string, ...roleKeys: string[]) => ({ userId, projectId: 'P', roleKeys });
  const receiver = (...userGrants: object[]) => organisation('granted', { humanUsers: [person('U')], userGrants });
  const file = (...orgs: object[]) => ({ data_orgs: { orgs } });
  const exported = { userId: 'U', projectId: 'P', projectGrantId: 'G', roleKeys: ['reader'] };

  it.each(['dry', 'real'])(
    'gets the id of the project grant if the file omits it, with a warning: %s run',
    async (run) => {
      const instance = await testInstance(await openTestStore());
      const request = file(receiver(omitting('U', 'reader')), owner(projectGrant('P', 'granted', 'reader')));
      const { errors, summary, success } = await instance.import({ ...request, dry_run: run === 'dry' });
      expect(errors).toBeUndefined();
      expect(summary).toMatchObject({
        created: { userGrants: 1 },
        warnings: [
          unproved,
          {
            type: 'user_grant',
            id: 'granted_P_U',
            reason: 'field_filled',
            message: 'projectGrantId is absent: imported with G',
          },
        ],
      });
      expect(success.orgs).toMatchObject([{ userGrants: [{ projectId: 'P', userId: 'U' }] }, {}]);
      if (run === 'dry') return;
      expect((await instance.export()).orgs).toMatchObject([{ userGrants: [exported] }, {}]);
      const again = await instance.import(request);
      expect(again.errors).toBeUndefined();
      expect(again.summary).toMatchObject({ created: {}, unchanged: { userGrants: 1 } });
    },
  );
});
