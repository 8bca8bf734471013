import { describe, expect, it } from 'vitest';
import type { Snapshot } from '../../../shared/store/store.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore } from '../../support/stores/stores.ts';
import { withSmallCommits } from '../../support/stores/watchedStore.ts';

const overwriting = (...orgs: object[]) => ({ data_orgs: { orgs }, on_conflict: 'overwrite' });
const role = (projectId: string, roleKey: string) => ({ projectId, roleKey, displayName: roleKey });
const projectGrant = (projectId: string, grantedOrgId: string, ...roleKeys: string[]) => ({
  grantId: 'G',
  projectGrant: { projectId, grantedOrgId, roleKeys },
});
describe('a project grant that is overwritten with fewer roles', () => {
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
