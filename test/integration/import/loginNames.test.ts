import { describe, expect, it } from 'vitest';
import { createServiceUser, deleteServiceUser } from '../../../cli/accounts/serviceUsers.ts';
import { initialise } from '../../../shared/accounts/initialise.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import type { Store } from '../../../shared/store/store.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { servedInstance, type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { violationsOf } from '../../support/stores/invariants.ts';
import { openTestStore } from '../../support/stores/stores.ts';

/** Initialises an instance with a default for organisations without a domain policy. */
async function instanceByDefault(store: Store, loginNamesByDomain: boolean): Promise<TestInstance> {
  return servedInstance(store, await initialise(store, { name: 'test', loginNamesByDomain }, DAY_MS, new Date()));
}

const users = (orgId: string) => [
  person(`${orgId}1`, { userName: 'alice' }),
  person(`${orgId}2`, { userName: 'admin' }),
];
const sameNames = (content: (orgId: string) => object = () => ({})) => ({
  data_orgs: {
    orgs: ['O', 'P', 'Q'].map((orgId) => ({
      orgId,
      org: { name: orgId },
      humanUsers: users(orgId),
      ...content(orgId),
    })),
  },
});

describe('login names under domain policies', () => {
  it('are unique in each organisation without a domain policy, if that is the default', async () => {
    const instance = await instanceByDefault(await openTestStore(), true);
    const { errors, summary } = await instance.import(sameNames());
    expect(errors).toBeUndefined();
    expect(summary.created.humanUsers).toBe(6);
    const { orgs, manifest } = await instance.export();
    expect(orgs.filter((one) => 'domainPolicy' in one)).toEqual([]);
    expect(manifest).toMatchObject({ userLoginMustBeDomain: true });
  });

  it('are unique in the instance if a domain policy requires it, against the default', async () => {
    const instance = await instanceByDefault(await openTestStore(), true);
    const { summary } = await instance.import(sameNames((orgId) => ({ domainPolicy: { orgId } })));
    expect(summary).toMatchObject({ created: { humanUsers: 2, domainPolicy: 3 }, failed: { humanUsers: 4 } });
  });

  it.each([true, false])(
    'cannot change by a domain policy once there are users: default %s',
    async (loginNamesByDomain) => {
      const instance = await instanceByDefault(await openTestStore(), loginNamesByDomain);
      const orgs = [{ orgId: 'O', org: { name: 'O' }, humanUsers: users('O') }];
      await instance.import({ data_orgs: { orgs } });
      const imported = (userLoginMustBeDomain: boolean) =>
        instance.import({ data_orgs: { orgs: [{ orgId: 'O', domainPolicy: { orgId: 'O', userLoginMustBeDomain } }] } });
      expect((await imported(!loginNamesByDomain)).summary).toMatchObject({ failed: { domainPolicy: 1 } });
      expect((await imported(loginNamesByDomain)).summary).toMatchObject({ created: { domainPolicy: 1 } });
    },
  );

  it('cause a warning if the file depends on the default of another instance', async () => {
    const source = await instanceByDefault(await openTestStore(), true);
    await source.import(sameNames());
    const file = { data_orgs: await source.export() };
    const target = await instanceByDefault(await openTestStore(), false);
    const { summary } = await target.import(file);
    expect(summary).toMatchObject({ created: { humanUsers: 2 }, failed: { humanUsers: 4 } });
    expect(summary.warnings).toContainEqual(
      expect.objectContaining({
        reason: 'login_names_differ',
        message: expect.stringContaining('without a domain policy: 3'),
      }),
    );
    const equal = await instanceByDefault(await openTestStore(), true);
    expect((await equal.import(file)).summary).toMatchObject({ created: { humanUsers: 6 }, warnings: [] });
  });
});

describe('login names that look alike', () => {
  it('are one name for service users, whom the command creates and deletes', async () => {
    const store = await openTestStore();
    const instance = await testInstance(store);
    const send = async (userName: string) => {
      const humanUsers = [person('A', { userName })];
      return (await instance.import({ data_orgs: { orgs: [organisation('O', { humanUsers })] } })).errors;
    };
    const userId = await createServiceUser(store, 'ｒｏｂｏｔ', undefined, new Date());
    await expect(createServiceUser(store, 'robot', undefined, new Date())).rejects.toMatchObject({
      code: 'ALREADY_EXISTS',
    });
    const message = 'ID=V3-DKcYh Message=Errors.User.AlreadyExists';
    expect(await send('Robot')).toMatchObject([{ type: 'human_user', id: 'A', message }]);
    await deleteServiceUser(store, userId);
    expect(await send('Robot')).toBeUndefined();
    expect(violationsOf(await readDatabase(store))).toEqual([]);
  });
});
