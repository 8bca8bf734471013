import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { initialise } from '../../../shared/accounts/initialise.ts';
import { createServiceUser, deleteServiceUser } from '../../../shared/accounts/serviceUsers.ts';
import { DAY_MS } from '../../../shared/clock.ts';
import { openStore } from '../../../shared/store/openStore.ts';
import type { Store } from '../../../shared/store/store.ts';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { servedInstance, type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { repetitions } from '../../support/repetitions.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { violationsOf } from '../../support/stores/invariants.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const orgIds = ['O', 'P'];

const user = fc.record({
  userId: fc.constantFrom('A', 'B', 'C', 'D', 'E'),
  userName: fc.constantFrom('alice', 'Alice', 'bob', 'carol'),
});

/** One entry of a file: an organisation with policies and users in any order, with or without its name. */
const entry = fc.record({
  orgId: fc.constantFrom(...orgIds),
  isNamed: fc.boolean(),
  policies: fc.uniqueArray(fc.constantFrom('domainPolicy', 'iamPolicy'), { maxLength: 2 }),
  contradicts: fc.integer({ min: 0, max: 15 }).map((chance) => chance === 0),
  users: fc.array(user, { maxLength: 3 }),
  isUsersFirst: fc.boolean(),
  isIdLast: fc.boolean(),
});

type Entry = typeof entry extends fc.Arbitrary<infer Value> ? Value : never;
type Fields = [name: string, value: unknown][];

/** Writes an entry; the policies of a file agree with each other, except for a deliberate contradiction. */
function toOrganisation(
  { orgId, isNamed, policies, contradicts, users, isUsersFirst, isIdLast }: Entry,
  byDomain: readonly string[],
): Record<string, unknown> {
  const id: Fields = [['orgId', orgId]];
  if (isNamed) id.push(['org', { name: `Organisation ${orgId}` }]);
  const userLoginMustBeDomain = byDomain.includes(orgId) !== contradicts;
  const settings = policies.map((name): Fields[number] => [name, { orgId, userLoginMustBeDomain }]);
  const people = users.map(({ userId, userName }) => person(`${orgId}${userId}`, { userName }));
  const humanUsers: Fields = users.length === 0 ? [] : [['humanUsers', people]];
  const content = isUsersFirst ? [...humanUsers, ...settings] : [...settings, ...humanUsers];
  return Object.fromEntries(isIdLast ? [...content, ...id] : [...id, ...content]);
}

const file = fc
  .record({
    entries: fc.array(entry, { minLength: 1, maxLength: 4 }),
    byDomain: fc.subarray(orgIds),
    on_conflict: fc.constantFrom('report', 'skip', 'overwrite'),
  })
  .map(({ entries, byDomain, on_conflict }) => ({
    data_orgs: { orgs: entries.map((one) => toOrganisation(one, byDomain)) },
    on_conflict,
  }));
const files = fc.array(file, { minLength: 1, maxLength: 4 });

/** Opens a store for one of many rounds, which is closed before the test has finished. */
async function openClosing(): Promise<Store & AsyncDisposable> {
  const store = await openStore(await sqlite.newLocation());
  return { ...store, [Symbol.asyncDispose]: () => store.close() };
}

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
  const numRuns = repetitions({ few: 30, many: 1_000 });

  it.each(['one after the other', 'at once'])(
    'are claimed according to the policies and the default, in any files, imported %s',
    async (how) => {
      await fc.assert(
        fc.asyncProperty(files, fc.boolean(), async (imports, loginNamesByDomain) => {
          await using store = await openClosing();
          const instance = await instanceByDefault(store, loginNamesByDomain);
          const send = async (body: (typeof imports)[number]) => (await instance.attempt('import', body)).status;
          const statuses: number[] = [];
          if (how === 'at once') statuses.push(...(await Promise.all(imports.map(send))));
          else for (const one of imports) statuses.push(await send(one));
          expect(statuses.filter((status) => status !== 200 && status !== 400)).toEqual([]);
          expect(violationsOf(await readDatabase(store))).toEqual([]);
        }),
        { numRuns },
      );
    },
  );

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

  it('that several organisations have are reported with the remedy, which only works before the first import', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const orgs = ['O', 'P'].map((id) => organisation(id, { humanUsers: [person(`${id}1`, { userName: 'alice' })] }));
    const policies = orgs.map((org) => ({
      ...org,
      domainPolicy: { orgId: org.orgId, userLoginMustBeDomain: true },
    }));
    const planned = await instance.import({ data_orgs: { orgs }, dry_run: true });
    expect(planned.reasons).toEqual([
      { type: 'human_user', id: 'P1', reason: 'login_name_taken', params: { holder: 'O1', organisation: 'O' } },
    ]);
    const remedied = await instance.import({ data_orgs: { orgs: policies }, dry_run: true });
    expect(remedied).toMatchObject({ summary: { created: { humanUsers: 2 }, failed: {} } });
    await instance.import({ data_orgs: { orgs } });
    const late = await instance.import({ data_orgs: { orgs: policies } });
    expect(late.summary.failed).toEqual({ domainPolicy: 2, humanUsers: 1 });
    expect(late.reasons).toContainEqual({ type: 'domain_policy', id: 'O', reason: 'login_names_settled' });
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
