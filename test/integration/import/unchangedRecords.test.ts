import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { importOrganisations } from '../../../functions/import/operation.ts';
import { uniqueStamp } from '../../../functions/import/stamp.ts';
import { initialise } from '../../../shared/accounts/initialise.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { documentId, type Store } from '../../../shared/store/store.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { describeStores, openTestStore } from '../../support/stores/stores.ts';

const PEOPLE = 600;
const userIds = Array.from({ length: PEOPLE }, (_, index) => `U${index}`);
const unverified = { value: '$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaA' };
const people = userIds.map((userId, index) =>
  person(userId, { userName: userId, ...(index === 0 ? { hashedPassword: unverified } : {}) }),
);
const grants = userIds.map((userId) => ({ userId, projectId: 'P', roleKeys: ['r'] }));
const content = {
  projects: [{ projectId: 'P', project: { name: 'P' } }],
  projectRoles: [{ projectId: 'P', roleKey: 'r', displayName: 'r' }],
  humanUsers: people,
  userGrants: grants,
};
const request = (more: object = {}, options: object = {}) => ({
  data_orgs: { orgs: [organisation('O', { ...content, ...more })] },
  ...options,
});
const all = { org: 1, projects: 1, projectRoles: 1, humanUsers: PEOPLE, userGrants: PEOPLE };

/** Imports a file, and returns how often it was read. */
async function countReadings(store: Store, orgs: readonly object[]): Promise<number> {
  let readings = 0;
  const open = () => {
    readings++;
    return Readable.from([Buffer.from(JSON.stringify({ orgs }))]);
  };
  const { signal } = new AbortController();
  await importOrganisations(store, { open }, {}, uniqueStamp(new Date()), signal);
  return readings;
}

describeStores('the unchanged records of a repeated import', (kind) => {
  async function imported() {
    const store = await openTestStore(kind);
    const instance = await testInstance(store);
    await instance.import(request());
    return { store, instance };
  }

  it('are not read again from the file once it is valid', async () => {
    const store = await openTestStore(kind);
    await initialise(store, { name: 'unchanged' }, DAY_MS, new Date());
    const { orgs } = request().data_orgs;
    expect(await countReadings(store, orgs)).toBe(4);
    expect(await countReadings(store, orgs)).toBe(1);
  });

  it('are counted with their warnings, and written never, beside changed and new ones', async () => {
    const { instance } = await imported();
    const warnings = expect.arrayContaining([expect.objectContaining({ id: 'U0', reason: 'hash_unverified' })]);
    expect((await instance.import(request())).summary).toMatchObject({ unchanged: all, warnings });
    const changed = [...people.slice(0, 300), person('U300', { userName: 'renamed' }), ...people.slice(301)];
    const { summary } = await instance.import(
      request({ humanUsers: [...changed, person('new')] }, { on_conflict: 'overwrite' }),
    );
    expect(summary).toMatchObject({
      created: { humanUsers: 1 },
      overwritten: { humanUsers: 1 },
      unchanged: { ...all, humanUsers: PEOPLE - 1 },
      failed: {},
      warnings,
    });
  });

  it('are counted once if the names of their lists are in snake case', async () => {
    const { instance } = await imported();
    const { humanUsers, userGrants, projectRoles, ...others } = content;
    const snake = { human_users: [...humanUsers, person('new')], user_grants: userGrants, project_roles: projectRoles };
    const { summary } = await instance.import({ data_orgs: { orgs: [organisation('O', { ...others, ...snake })] } });
    expect(summary).toMatchObject({ created: { humanUsers: 1 }, unchanged: all });
  });

  it('have failed if a record to which they refer is gone', async () => {
    const { store, instance } = await imported();
    await store.commit([{ type: 'delete', key: { collection: 'users', id: documentId('U7') } }]);
    const { summary, errors } = await instance.import(request({ humanUsers: [] }));
    expect(errors).toMatchObject([{ type: 'user_grant', id: 'O_P_U7' }]);
    expect(summary).toMatchObject({ unchanged: { userGrants: PEOPLE - 1 }, failed: { userGrants: 1 } });
  });
});
