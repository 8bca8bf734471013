import { expect, it } from 'vitest';
import { createServiceUser, deleteServiceUser } from '../../shared/accounts/serviceUsers.ts';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { testInstance } from '../support/instances/testInstance.ts';
import { readDatabase } from '../support/stores/database.ts';
import { violationsOf } from '../support/stores/invariants.ts';
import { describeStores, openTestStore } from '../support/stores/stores.ts';

describeStores('a service user of an organisation whose login names carry its domain', (kind) => {
  const domainPolicy = { orgId: 'O', userLoginMustBeDomain: true };

  it('claims its name in that organisation, and frees it again', async () => {
    const store = await openTestStore(kind);
    const instance = await testInstance(store);
    const humanUsers = [person('A', { userName: 'robot' })];
    await instance.import({
      dataOrgs: { orgs: [organisation('P', { humanUsers }), organisation('O', { domainPolicy })] },
    });
    const userId = await createServiceUser(store, 'robot', 'O', new Date());
    expect(violationsOf(await readDatabase(store))).toEqual([]);
    await expect(createServiceUser(store, 'robot', 'O', new Date())).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await deleteServiceUser(store, userId);
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });
});
