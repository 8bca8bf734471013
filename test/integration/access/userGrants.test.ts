import { expect, it } from 'vitest';
import { listUserGrants, removeUserGrants } from '../../../cli/accounts/userGrants.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { describeStores, openTestStore } from '../../support/stores/stores.ts';
import { watchedStore } from '../../support/stores/watchedStore.ts';

/** More grants than one commit deletes. */
const GRANTS = 120;
const ids = Array.from({ length: GRANTS }, (_, number) => `p${number}`);

describeStores('the removal of user grants', (kind) => {
  it('needs several commits for many grants, and returns all of them', async () => {
    const store = await openTestStore(kind);
    const { import: importFile } = await testInstance(store);
    const projects = ids.map((projectId) => ({ projectId, project: { name: projectId } }));
    const userGrants = ids.map((projectId) => ({ userId: 'ada', projectId }));
    const other = { userId: 'bob', projectId: 'p0' };
    const humanUsers = [person('ada'), person('bob')];
    const content = organisation('acme', { humanUsers, projects, userGrants: [...userGrants, other] });
    const { summary } = await importFile({ data_orgs: { orgs: [content] } });
    expect(summary.created.userGrants).toBe(GRANTS + 1);
    const commits: number[] = [];
    const watched = watchedStore(store, (writes) => void commits.push(writes.length));
    const removed = await removeUserGrants(watched, { userId: 'ada' });
    expect(commits.length).toBeGreaterThan(1);
    expect(Math.max(...commits)).toBeLessThan(GRANTS);
    expect(new Set(removed.map(({ projectId }) => projectId))).toEqual(new Set(ids));
    expect(await Array.fromAsync(listUserGrants(store, { userId: 'ada' }))).toEqual([]);
    expect(await Array.fromAsync(listUserGrants(store, { userId: 'bob' }))).toHaveLength(1);
  });
});
