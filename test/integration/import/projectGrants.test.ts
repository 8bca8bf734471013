import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../../shared/store/store.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { servedInstance, testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { watchedStore, withSmallCommits } from '../../support/stores/watchedStore.ts';

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

  it('is reported with the roles that user grants use, before an overwrite', async () => {
    const { instance } = await prepared();
    const { errors, reasons } = await instance.import({ ...narrowing, on_conflict: 'report' });
    expect(errors).toEqual([{ ...error, message: 'ID=V3-DKcYh Message=Errors.Project.Grant.AlreadyExists' }]);
    expect(reasons).toEqual([inUse(USERS - 1, 'granted_P_U100')]);
  });

  it('has the user grants of its organisation read once, however many grants lose roles', async () => {
    const store = await openTestStore();
    let scans = 0;
    const counting = withSmallCommits(store, (inner) => ({
      snapshot: async () => {
        const snapshot = await inner.snapshot();
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
    }));
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
});
