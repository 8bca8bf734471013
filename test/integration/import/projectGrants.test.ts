import { describe, expect, it } from 'vitest';
import { storeUnavailable } from '../../../shared/errors/storeErrors.ts';
import type { Snapshot, Store } from '../../../shared/store/store.ts';
import { organisation, person, unproved } from '../../support/fixtures/organisations.ts';
import { servedInstance, testInstance } from '../../support/instances/testInstance.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { interruptedStore } from '../../support/stores/interruptedStore.ts';
import { violationsOf } from '../../support/stores/invariants.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { hookedStore, watchedStore } from '../../support/stores/watchedStore.ts';

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
const both = projectGrant('P', 'granted', 'reader', 'writer');
const withdrawing = overwriting(owner(projectGrant('P', 'granted', 'reader')));

describe('a project grant that is overwritten with fewer roles', () => {
  const prepared = async () => {
    const store = await openTestStore();
    const instance = await testInstance(store);
    expect((await instance.import(overwriting(owner(both), granted, organisation('other')))).errors).toBeUndefined();
    return { store, instance };
  };

  it('withdraws the other ones from the user grants through it, and warns of that', async () => {
    const { store, instance } = await prepared();
    const { summary } = await instance.import(withdrawing);
    expect(summary).toMatchObject({
      overwritten: { projectGrants: 1 },
      warnings: [
        unproved,
        {
          type: 'project_grant',
          id: 'owner_P_granted',
          message: `withdrew writer from ${USERS - 1} records of userGrants`,
        },
      ],
    });
    const { orgs } = await instance.export({ org_ids: ['granted'] });
    expect(orgs[0]).toMatchObject({
      userGrants: expect.arrayContaining([userGrant('U0', 'reader'), userGrant('U1', 'reader')]),
    });
    expect(violationsOf(await readDatabase(store))).toEqual([]);
    const again = await instance.import(withdrawing);
    expect(again.summary).toMatchObject({ unchanged: { projectGrants: 1 }, warnings: [unproved] });
  });

  it('reads the user grants of an organisation once before and once after, however many grants lose roles', async () => {
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
    const { summary } = await instance.import({ ...granting('reader'), org_ids: ['owner'] });
    expect(JSON.stringify(summary.warnings).match(/from 1 records of userGrants/g)).toHaveLength(4);
    expect(scans).toBe(2);
  });

  it('leaves user grants without roles where it has none any more', async () => {
    const { store, instance } = await prepared();
    await instance.import(
      overwriting(owner({ grantId: 'G', projectGrant: { projectId: 'P', grantedOrgId: 'granted' } })),
    );
    const { orgs } = await instance.export({ org_ids: ['granted'] });
    expect(orgs[0]).toMatchObject({ userGrants: expect.arrayContaining([userGrant('U0')]) });
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });

  it('changes nothing in a dry run, which reports the same', async () => {
    const { instance } = await prepared();
    const before = await instance.export();
    const { summary: dry } = await instance.import({ ...withdrawing, dry_run: true });
    expect((await instance.export()).manifest.digest).toBe(before.manifest.digest);
    const { summary } = await instance.import(withdrawing);
    expect({ ...dry, dryRun: undefined }).toEqual({ ...summary, dryRun: undefined });
  });

  it.each([0, 1, 2, 3, 4])(
    'ends as undisturbed when the process died after commit %i and the import is resent',
    async (last) => {
      const store = await openTestStore();
      let commitsLeft = Number.POSITIVE_INFINITY;
      const dying = watchedStore(store, () => {
        if (commitsLeft-- === 0) throw new Error('killed');
      });
      const instance = await testInstance(store, 'test', { store: dying });
      await instance.import(overwriting(owner(both), granted));
      commitsLeft = last;
      await instance.attempt('import', withdrawing);
      expect(violationsOf(await readDatabase(store))).toEqual([]);
      commitsLeft = Number.POSITIVE_INFINITY;
      expect((await instance.import(withdrawing)).errors).toBeUndefined();
      const { orgs } = await instance.export();
      expect(JSON.stringify(orgs.map(({ userGrants, projectGrants }) => [userGrants, projectGrants]))).not.toContain(
        'writer',
      );
      expect(violationsOf(await readDatabase(store))).toEqual([]);
    },
  );

  it('withdraws them when it is resent, after an interruption before it could withdraw what another import created', async () => {
    const { store, instance } = await prepared();
    const late = { humanUsers: [person('late')], userGrants: [userGrant('late', 'writer')] };
    let isOver = false;
    const dying = hookedStore(store, async (writes) => {
      if (isOver) throw storeUnavailable(new Error('injected'));
      if (!writes.some(({ key }) => key.collection === 'projectGrants')) return;
      await instance.import({ data_orgs: { orgs: [{ orgId: 'granted', ...late }] } });
      isOver = true;
    });
    const { status } = await servedInstance(dying, instance).refusedImport(withdrawing);
    expect(status).toBe(503);
    expect(violationsOf(await readDatabase(store))).not.toEqual([]);
    const { summary } = await instance.import(withdrawing);
    expect(summary.unchanged.projectGrants).toBe(1);
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });

  it('withdraws them from user grants that another import creates meanwhile', async () => {
    const store = await openTestStore();
    let meanwhile: (() => Promise<unknown>) | undefined;
    const shared: Store = {
      getMany: (keys, fields) => store.getMany(keys, fields),
      commit: (writes) => store.commit(writes),
      transaction: async (work) => {
        const result = await store.transaction(work);
        const happens = meanwhile;
        meanwhile = undefined;
        await happens?.();
        return result;
      },
      snapshot: () => store.snapshot(),
      close: () => store.close(),
    };
    const instance = await testInstance(store, 'test', { store: shared });
    await instance.import(overwriting(owner(both), granted));
    const late = { humanUsers: [person('late')], userGrants: [userGrant('late', 'writer')] };
    let created: unknown;
    meanwhile = async () => {
      created = (await instance.import({ data_orgs: { orgs: [{ orgId: 'granted', ...late }] } })).summary.created;
    };
    const { summary } = await instance.import(withdrawing);
    expect(created).toEqual({ humanUsers: 1, userGrants: 1 });
    expect(summary.warnings).toMatchObject([
      unproved,
      { message: `withdrew writer from ${USERS} records of userGrants` },
    ]);
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });

  it.each([0, 1])(
    'has user grants checked again that another import is about to create (commit %i)',
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
      await instance.import(overwriting(owner(both), granted));
      let withdrawal: Awaited<ReturnType<typeof instance.import>> | undefined;
      present = interruptedStore(store, { commit, when: 'before' }, async () => {
        present = store;
        withdrawal = await instance.import(withdrawing);
      });
      const late = { humanUsers: [person('late')], userGrants: [userGrant('late', 'writer')] };
      const { errors } = await instance.import({ data_orgs: { orgs: [{ orgId: 'granted', ...late }] } });
      expect(withdrawal?.summary.overwritten).toEqual({ projectGrants: 1 });
      expect(errors).toMatchObject([{ type: 'user_grant', message: expect.stringContaining('COMMAND-mm9F4') }]);
      expect(violationsOf(await readDatabase(store))).toEqual([]);
    },
  );

  it.each([
    ['project', projectGrant('Q', 'granted')],
    ['organisation', projectGrant('P', 'other', 'reader', 'writer')],
  ])('keeps its %s, since user grants and members refer to it: another one is reported', async (_what, other) => {
    const { instance } = await prepared();
    const before = await instance.export();
    const { errors } = await instance.import(overwriting(owner(other)));
    expect(errors).toMatchObject([
      { type: 'project_grant', message: 'ID=V3-DKcYh Message=Errors.Project.Grant.AlreadyExists' },
    ]);
    expect((await instance.export()).manifest.digest).toBe(before.manifest.digest);
  });
});

describe('a user grant on a granted project', () => {
  const omitting = (userId: string, ...roleKeys: string[]) => ({ userId, projectId: 'P', roleKeys });
  const receiver = (...userGrants: object[]) => organisation('granted', { humanUsers: [person('U')], userGrants });
  const file = (...orgs: object[]) => ({ data_orgs: { orgs } });
  const exported = { userId: 'U', projectId: 'P', projectGrantId: 'G', roleKeys: ['reader'] };

  it.each(['dry', 'real'])(
    'gets the id of the project grant where the file omits it, with a warning: %s run',
    async (run) => {
      const instance = await testInstance(await openTestStore());
      const request = file(receiver(omitting('U', 'reader')), owner(projectGrant('P', 'granted', 'reader')));
      const { errors, summary, success } = await instance.import({ ...request, dry_run: run === 'dry' });
      expect(errors).toBeUndefined();
      expect(summary).toMatchObject({
        created: { userGrants: 1 },
        warnings: [
          unproved,
          { type: 'user_grant', id: 'granted_P_U', message: 'projectGrantId is absent: imported with G' },
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

  it('is one with and without that id', async () => {
    const instance = await testInstance(await openTestStore());
    const grants = [{ ...omitting('U', 'reader'), projectGrantId: 'G' }, omitting('U', 'reader')];
    const { errors } = await instance.import(file(owner(both), receiver(...grants)));
    expect(errors).toMatchObject([{ type: 'user_grant', id: 'granted_P_U' }]);
    expect((await instance.export({ org_ids: ['granted'] })).orgs).toMatchObject([{ userGrants: [exported] }]);
  });

  it('loses the roles that an overwritten project grant withdraws, with or without the id in the file', async () => {
    const instance = await testInstance(await openTestStore());
    await instance.import(file(owner(both), receiver(omitting('U', 'reader', 'writer'))));
    const { summary } = await instance.import(withdrawing);
    expect(summary).toMatchObject({
      warnings: [unproved, { message: 'withdrew writer from 1 records of userGrants' }],
    });
  });
});
