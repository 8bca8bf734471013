import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createServiceUser } from '../../shared/accounts/serviceUsers.ts';
import { readRecord } from '../../shared/organisation/record.ts';
import { createWrites, planRecord } from '../../shared/organisation/recordPlan.ts';
import { humanUserSection } from '../../shared/organisation/sections/users.ts';
import { FORMAT, guardFormat, instanceKey } from '../../shared/store/format.ts';
import { readUpgradeRecord } from '../../shared/store/migrations/upgradeRecord.ts';
import type { Store, Write } from '../../shared/store/store.ts';
import { upgrade } from '../../shared/store/upgrade.ts';
import { person } from '../support/fixtures/organisations.ts';
import type { TestInstance } from '../support/instances/testInstance.ts';
import { contentsOf, readDatabase } from '../support/stores/database.ts';
import { formatOne, formerInstance, writeFormerDatabase } from '../support/stores/formerDatabase.ts';
import { interruptedStore } from '../support/stores/interruptedStore.ts';
import { violationsOf } from '../support/stores/invariants.ts';
import { describeStores, openTestStore, type StoreKind, sqlite } from '../support/stores/stores.ts';
import { upgradeOptions, upgradeUntil } from '../support/stores/upgradeUntil.ts';
import { watchedStore } from '../support/stores/watchedStore.ts';

const orgIds = ['plain', 'carrying', 'mixed', 'contradicted', 'unpopulated', 'unfinished'];
const result = {
  from: 1,
  to: FORMAT,
  isFenced: true,
  isFinished: true,
  sharedNames: formatOne.sharedNames,
  sharedNameCount: formatOne.sharedNames.length,
};
/** What is wrong after the upgrade: users who had the same name before it. */
const remaining = [
  'claims/51~userName|emma is held by users/f4~emma, which has it not',
  'claims/66~userName|contradicted|bert is held by users/bd~bert2, which has it not',
  'claims/e8~userName|bert is of the organisation plain',
  'users/f4~emma has its claim a6~userName|mixed|emma held by users/42~emma2',
];

async function formerStore(kind: StoreKind): Promise<Store> {
  const store = await openTestStore(kind);
  await writeFormerDatabase(store, formatOne);
  return store;
}

async function instanceBody(store: Store): Promise<unknown> {
  const [instance] = await store.getMany([instanceKey], ['body']);
  return JSON.parse(instance?.body ?? '');
}

const request = (orgId: string, userId: string, userName: string, more: object = {}) => ({
  data_orgs: { orgs: [{ orgId, humanUsers: [person(userId, { userName })] }] },
  ...more,
});

/** Imports a person under a new id, and returns the messages of the errors. */
async function importPerson(instance: TestInstance, orgId: string, userName: string, userId = `new ${userName}`) {
  const { errors = [] } = await instance.import(request(orgId, userId, userName));
  return errors.map(({ message }) => message);
}

const TAKEN = ['ID=V3-DKcYh Message=Errors.User.AlreadyExists'];

/** Names that the former version's claims hold, by organisation and in another case. */
const held = [
  ['plain', 'ANNA'],
  ['carrying', 'Anna'],
  ['mixed', 'Dave'],
  ['mixed', 'fred'],
  ['mixed', 'feeder'],
  ['contradicted', 'Gina'],
] as const;

/** Imports each of these names for a new person, and expects that all are reported as taken. */
async function expectHeldNames(store: Store): Promise<void> {
  const instance = await formerInstance(store, formatOne);
  const orgs = held.map(([orgId, userName]) => ({
    orgId,
    humanUsers: [person(`new ${userName} of ${orgId}`, { userName })],
  }));
  const { errors = [], success } = await instance.import({ data_orgs: { orgs } });
  expect(errors.map(({ id }) => id).sort()).toEqual(
    orgs.flatMap(({ humanUsers }) => humanUsers.map(({ userId }) => userId)).sort(),
  );
  expect(new Set(errors.map(({ message }) => message))).toEqual(new Set(TAKEN));
  expect(JSON.stringify(success)).not.toContain('humanUserIds');
}

describeStores('the upgrade of a database of version 0.1.0', (kind) => {
  it('moves the claims of login names into the scope of their organisation, and changes no record', async () => {
    const store = await formerStore(kind);
    const before = await readDatabase(store);
    expect(violationsOf(before)).not.toEqual([]);
    expect(await upgrade(store, upgradeOptions)).toEqual(result);
    const after = await readDatabase(store);
    expect(violationsOf(after).sort()).toEqual(remaining);
    expect(contentsOf(after, orgIds)).toEqual(contentsOf(before, orgIds));
    expect(after.get('instance')?.map(({ id }) => id.slice(3))).not.toContain('checkpoint|1');
    expect(await instanceBody(store)).toEqual({ name: 'legacy', format: FORMAT });
    await expectHeldNames(store);
    expect(await importPerson(await formerInstance(store, formatOne), 'plain', 'fred')).toEqual([]);
  });

  it('protects names before it begins, when names are claimed, given up and taken over', async () => {
    const store = await formerStore(kind);
    await expectHeldNames(store);
    await expect(createServiceUser(store, 'DAVE', 'mixed', new Date())).rejects.toMatchObject({
      code: 'ALREADY_EXISTS',
    });
    const instance = await formerInstance(store, formatOne);
    const { errors } = await instance.import(request('mixed', 'dave', 'david', { on_conflict: 'overwrite' }));
    expect(errors).toBeUndefined();
    expect(await importPerson(instance, 'mixed', 'David')).toEqual(TAKEN);
    expect(await importPerson(instance, 'mixed', 'dave')).toEqual([]);
    await upgrade(store, upgradeOptions);
    expect(violationsOf(await readDatabase(store)).sort()).toEqual(remaining);
  });

  it('protects names at every moment, is interrupted at every commit, and ends as if undisturbed', async () => {
    const undisturbed = await formerStore(kind);
    await upgrade(undisturbed, upgradeOptions);
    const expected = await readDatabase(undisturbed);
    let interruptions = 0;
    for (let commit = 0, ends = false; !ends; commit++) {
      for (const when of ['before', 'after'] as const) {
        const store = await formerStore(kind);
        const interrupted = await upgradeUntil(store, { commit, when }, expectHeldNames);
        ends = !interrupted;
        if (ends) break;
        interruptions++;
        expect(await upgrade(store, upgradeOptions)).toEqual(result);
        const { tokens, ...rest } = Object.fromEntries(await readDatabase(store));
        const { tokens: _, ...same } = Object.fromEntries(expected);
        expect(rest).toEqual(same);
        expect(tokens).toHaveLength(2);
      }
    }
    // Two commits at the beginning, one or more for each step, one at the end.
    expect(interruptions).toBeGreaterThanOrEqual(2 * 6);
  });

  it('lets an import decide again whose claims it moves meanwhile', async () => {
    for (let commit = 0, isOver = false; !isOver; commit++) {
      const store = await formerStore(kind);
      isOver = true;
      const meanwhile = async () => {
        isOver = false;
        await upgrade(store, upgradeOptions);
      };
      const instance = await formerInstance(
        store,
        formatOne,
        interruptedStore(store, { commit, when: 'before' }, meanwhile),
      );
      const { errors } = await instance.import(request('mixed', 'dave', 'david', { on_conflict: 'overwrite' }));
      expect(errors).toBeUndefined();
      expect(await importPerson(instance, 'mixed', 'DAVID')).toEqual(TAKEN);
      expect(await importPerson(instance, 'mixed', 'dave')).toEqual([]);
      await upgrade(store, upgradeOptions);
      expect(violationsOf(await readDatabase(store)).sort()).toEqual(remaining);
    }
  });

  it('begins with the format, which locks processes of older versions out, and continues after a signal', async () => {
    const store = await formerStore(kind);
    const controller = new AbortController();
    const onStep = (name: string) => {
      expect(name).toBe('waiting 75 seconds, until processes of older versions reject requests');
      controller.abort();
    };
    await expect(upgrade(store, { signal: controller.signal, onStep })).rejects.toMatchObject({ name: 'AbortError' });
    expect(await instanceBody(store)).toEqual({ name: 'legacy', format: FORMAT, migratedFrom: 1 });
    await expectHeldNames(guardFormat(store));
    expect(await upgrade(store, upgradeOptions)).toEqual(result);
  });

  it('continues in the middle of a collection', async () => {
    const store = await formerStore(kind);
    const count = 600;
    for (let start = 0; start < count; start += 200) await store.commit(formerUsers('mixed', start, 200));
    const controller = new AbortController();
    const interrupted = watchedStore(store, (writes) => {
      if (writes.some(({ type, key }) => type === 'delete' && key.collection === 'claims')) controller.abort();
    });
    const stopped = expect(upgrade(interrupted, { ...upgradeOptions, signal: controller.signal }));
    await stopped.rejects.toMatchObject({ name: 'AbortError' });
    const claims = async () =>
      (await readDatabase(store)).get('claims')?.filter(({ id }) => id.includes('|mixed|many '));
    const moved = (await claims())?.length ?? 0;
    expect(moved).toBeGreaterThan(0);
    expect(moved).toBeLessThan(count);
    expect(await readUpgradeRecord(store)).toMatchObject({
      step: '3: claims of login names',
      after: expect.any(String),
    });
    expect(await upgrade(store, upgradeOptions)).toEqual(result);
    expect(await claims()).toHaveLength(count);
    expect(violationsOf(await readDatabase(store)).sort()).toEqual(remaining);
  });

  it('runs twice at once', async () => {
    const store = await formerStore(kind);
    await Promise.all([upgrade(store, upgradeOptions), upgrade(store, upgradeOptions)]);
    expect(violationsOf(await readDatabase(store)).sort()).toEqual(remaining);
    expect(await upgrade(store, upgradeOptions)).toEqual(result);
  });

  it('has nothing to do on a database that this version has initialised', async () => {
    const store = await openTestStore(kind);
    expect(await upgrade(store, upgradeOptions)).toBeUndefined();
  });
});

/** Creates users as version 0.1.0 did for an organisation that had no domain policy yet. */
function formerUsers(orgId: string, first: number, count: number): Write[] {
  return Array.from({ length: count }, (_, index) => {
    const record = readRecord(
      humanUserSection,
      person(`many ${first + index}`, { userName: `many ${first + index}` }),
      orgId,
    );
    return createWrites(planRecord(record, false), '2026-11-21T08:00:00.000Z');
  }).flat();
}

describe('a database file of version 0.1.0', () => {
  it('is upgraded when it is opened', async () => {
    const location = await sqlite.newLocation();
    if (location.kind !== 'sqlite') throw new Error('not a directory');
    await copyFile(formatOne.file, join(location.directory, 'identity.sqlite'));
    const store = await openTestStore(sqlite, location);
    const database = await readDatabase(store);
    expect(violationsOf(database).sort()).toEqual(remaining);
    const former = await formerStore(sqlite);
    expect(contentsOf(database, orgIds)).toEqual(contentsOf(await readDatabase(former), orgIds));
    expect(await instanceBody(store)).toEqual({ name: 'legacy', format: FORMAT });
    expect(await upgrade(store, upgradeOptions)).toEqual(result);
    await expectHeldNames(store);
  });
});
