import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createServiceUser, deleteServiceUser } from '../../shared/accounts/serviceUsers.ts';
import { FORMAT, instanceKey } from '../../shared/store/format.ts';
import type { Store } from '../../shared/store/store.ts';
import { upgrade } from '../../shared/store/upgrade.ts';
import { organisation, person } from '../support/fixtures/organisations.ts';
import { contentsOf, readDatabase } from '../support/stores/database.ts';
import { formatThree, formerInstance, writeFormerDatabase } from '../support/stores/formerDatabase.ts';
import { violationsOf } from '../support/stores/invariants.ts';
import { describeStores, openTestStore, type StoreKind, sqlite } from '../support/stores/stores.ts';
import { upgradeOptions, upgradeUntil } from '../support/stores/upgradeUntil.ts';

const orgIds = ['unclaimed', 'alike', 'carrying', 'muller', 'muller2', 'today'];

/** The order in which documents are read. Where no claim says which of two records has a name, the first one gets it. */
type Order = 'documents' | 'rows';

const orderOf = (kind: StoreKind): Order => (kind === sqlite ? 'rows' : 'documents');
const otherInRows = new Set(['robot2', 'portal|Admin', 'idp|X1']);

const sharedNames = (order: Order) =>
  formatThree.sharedNames.map((shared) =>
    order === 'rows' && otherInRows.has(shared.id) ? { ...shared, id: shared.holderId, holderId: shared.id } : shared,
  );

const result = (order: Order) => ({
  from: 3,
  to: FORMAT,
  isFenced: true,
  isFinished: true,
  sharedNames: expect.arrayContaining(sharedNames(order)),
  sharedNameCount: formatThree.sharedNames.length,
});

/** What is wrong after the upgrade: each record that shares a name goes without its claim, and nothing else. */
const remaining = (order: Order) =>
  sharedNames(order).map(({ collection, id, holderId }) => {
    const isOfOther = collection === 'organisations' || collection === 'domains';
    const [holderOrgId] = holderId.split('|');
    if (isOfOther) return expect.stringMatching(new RegExp(`^claims/.* is of the organisation ${holderOrgId}$`));
    const path = (one: string) => `${collection}/..~${one.replaceAll('|', '\\|')}`;
    return expect.stringMatching(new RegExp(`^${path(id)} has its claim .* held by ${path(holderId)}$`));
  });

async function formerStore(kind: StoreKind): Promise<Store> {
  const store = await openTestStore(kind);
  await writeFormerDatabase(store, formatThree);
  return store;
}

async function expectRemaining(store: Store, order: Order): Promise<void> {
  const violations = violationsOf(await readDatabase(store));
  expect(violations).toHaveLength(formatThree.sharedNames.length);
  expect(violations).toEqual(expect.arrayContaining(remaining(order)));
}

const people = (orgId: string, names: readonly string[]) => ({
  orgId,
  humanUsers: names.map((userName) => person(`new ${userName} of ${orgId}`, { userName })),
});

/** Names that the former version's claims hold, some of them in another case. */
const held = [
  people('alike', ['JOSÉ', 'JOSE\u0301', 'strasse', 'Straße', 'ＦＲＥＤ', 'ZOE\u0308', 'ｒｏｂｏｔ']),
  people('carrying', ['Jose\u0301', 'ＧＩＮＡ', 'gina']),
  people('today', ['ｈｕｇｏ', 'INES', 'a@MU\u0308LLER.example', 'b@m\u00fcller.example']),
];

/** Imports these names for new records, and expects that all are reported as taken. */
async function expectHeldNames(store: Store): Promise<void> {
  const instance = await formerInstance(store, formatThree);
  const domains = [{ orgId: 'new', domainName: 'MU\u0308LLER.Example', isVerified: true }];
  const orgs = [
    ...held,
    { ...organisation('new', { domains }) },
    { orgId: 'new2', org: { name: 'ｔｏｄａｙ' } },
    { orgId: 'new3', org: { name: 'MÜLLER' } },
    { orgId: 'new4', org: { name: 'mu\u0308ller' } },
  ];
  const { errors = [] } = await instance.import({ data_orgs: { orgs }, dry_run: true });
  const users = held.flatMap(({ humanUsers }) => humanUsers.map(({ userId }) => userId));
  expect(errors.map(({ id }) => id).sort()).toEqual(
    [...users, 'new_MU\u0308LLER.Example', 'new2', 'new3', 'new4'].sort(),
  );
  const messages = new Set(errors.map(({ message }) => message));
  expect([...messages].filter((message) => !/^ID=(V3-DKcYh|COMMAND-SFd21) /.test(message))).toEqual([]);
}

describeStores('the upgrade of the names of a database of format 3', (kind) => {
  it('claims names that look alike once, claims names that had no claim, and changes no record', async () => {
    const store = await formerStore(kind);
    const before = await readDatabase(store);
    expect(await upgrade(store, upgradeOptions)).toEqual(result(orderOf(kind)));
    await expectRemaining(store, orderOf(kind));
    const after = await readDatabase(store);
    expect(contentsOf(after, orgIds)).toEqual(contentsOf(before, orgIds));
    const [instance] = await store.getMany([instanceKey], ['body']);
    expect(JSON.parse(instance?.body ?? '')).toEqual({ name: 'legacy', format: FORMAT });
    await expectHeldNames(store);
    expect(await upgrade(store, upgradeOptions)).toEqual(result(orderOf(kind)));
  });

  it('makes names unique that were not: applications and roles that differ in case, links, look-alikes', async () => {
    const store = await formerStore(kind);
    await upgrade(store, upgradeOptions);
    const instance = await formerInstance(store, formatThree);
    const app = { projectId: 'portal', name: 'CONSOLE', authMethodType: 'API_AUTH_METHOD_TYPE_BASIC' };
    const link = { userId: 'leo', idpId: 'idp', providedUserId: 'Y1', providedUserName: 'x' };
    const { errors = [] } = await instance.import({
      data_orgs: {
        orgs: [
          {
            ...people('unclaimed', ['fred', 'zo\u00eb', 'straße']),
            apiApps: [{ appId: 'new', app }],
            projectRoles: [{ projectId: 'portal', roleKey: 'READER', displayName: 'Reader' }],
            userLinks: [link],
          },
        ],
      },
    });
    const users = ['fred', 'zo\u00eb', 'straße'].map((name) => `new ${name} of unclaimed`);
    expect(errors.map(({ id }) => id).sort()).toEqual(['portal_READER', 'new', 'leo_idp', ...users].sort());
  });

  it('frees a name for the record that goes without, when its holder is renamed', async () => {
    const store = await formerStore(kind);
    await upgrade(store, upgradeOptions);
    const instance = await formerInstance(store, formatThree);
    const rename = async (userId: string, userName: string) => {
      const orgs = [{ orgId: 'alike', humanUsers: [person(userId, { userName })] }];
      return (await instance.import({ data_orgs: { orgs }, on_conflict: 'overwrite' })).errors ?? [];
    };
    expect(await rename('jose', 'jos\u00e9 the first')).toEqual([]);
    expect(await rename('jose2', 'jose\u0301')).toEqual([]);
    const violations = violationsOf(await readDatabase(store));
    expect(violations).toHaveLength(formatThree.sharedNames.length - 1);
    expect(violations.filter((violation) => violation.includes('jose'))).toEqual([]);
  });

  it('protects names before it begins, when names are given up, taken over, and freed by a deletion', async () => {
    const store = await formerStore(kind);
    await expectHeldNames(store);
    const create = (name: string) => createServiceUser(store, name, 'alike', new Date());
    for (const name of ['ｆｒｅｄ', 'ZOE\u0308', 'ROBOT '])
      await expect(create(name), name).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    const instance = await formerInstance(store, formatThree);
    const send = async (userId: string, userName: string) => {
      const orgs = [{ orgId: 'alike', humanUsers: [person(userId, { userName })] }];
      return (await instance.import({ data_orgs: { orgs }, on_conflict: 'overwrite' })).errors ?? [];
    };
    expect(await send('fred', 'frederic')).toEqual([]);
    expect(await send('heir', 'ｆｒｅｄ')).toEqual([]);
    await deleteServiceUser(store, 'robot2');
    await upgrade(store, upgradeOptions);
    const violations = violationsOf(await readDatabase(store));
    expect(violations.filter((violation) => /fred|heir|robot/.test(violation))).toEqual([]);
    await expect(create('FRED')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
  });

  it('protects names at every moment, is interrupted at every commit, and ends as if undisturbed', async () => {
    const undisturbed = await formerStore(kind);
    await upgrade(undisturbed, upgradeOptions);
    const { tokens: _, ...expected } = Object.fromEntries(await readDatabase(undisturbed));
    let interruptions = 0;
    for (let commit = 0, ends = false; !ends; commit++) {
      for (const when of ['before', 'after'] as const) {
        const store = await formerStore(kind);
        ends = !(await upgradeUntil(store, { commit, when }, expectHeldNames));
        if (ends) break;
        interruptions++;
        expect(await upgrade(store, upgradeOptions)).toEqual(result(orderOf(kind)));
        const { tokens: __, ...rest } = Object.fromEntries(await readDatabase(store));
        expect(rest).toEqual(expected);
      }
    }
    // Two commits at the beginning, two for each step that finds something to do, one at the end.
    expect(interruptions).toBeGreaterThanOrEqual(2 * 10);
  });
});

describe('a database file of format 3', () => {
  it('is upgraded when it is opened', async () => {
    const location = await sqlite.newLocation();
    if (location.kind !== 'sqlite') throw new Error('not a directory');
    await copyFile(formatThree.file, join(location.directory, 'identity.sqlite'));
    const store = await openTestStore(sqlite, location);
    await expectRemaining(store, 'documents');
    expect(await upgrade(store, upgradeOptions)).toEqual(result('documents'));
    await expectHeldNames(store);
  });
});
