import { expect, it } from 'vitest';
import { z } from 'zod';
import { readRecord, storedFields } from '../../shared/contract/record.ts';
import { createWrites, planRecord, type RecordPlan } from '../../shared/contract/recordPlan.ts';
import { sectionNamed } from '../../shared/contract/sections.ts';
import type { Snapshot, Store, Write } from '../../shared/store/store.ts';
import { createTurns } from '../../shared/store/turns.ts';
import { readDatabase } from '../support/database.ts';
import { violationsOf } from '../support/invariants.ts';
import { organisation, person } from '../support/organisation.ts';
import { describeStores, openTestStore } from '../support/stores.ts';
import { type Exported, testInstance } from '../support/testInstance.ts';
import { isFull } from './support/extent.ts';
import { faultTable } from './support/faultTable.ts';
import { survived } from './support/survived.ts';

const EXPORTS = isFull ? 20 : 3;
/** So many users are there at a time; the oldest leaves for each that comes. */
const USERS = 40;
/** What the accounts of both organisations hold together. */
const SUM = 1_000;

const content = [
  organisation('left', {
    projects: [{ projectId: 'left-project', project: { name: 'Portal' } }],
    ...account('left', SUM),
  }),
  organisation('right', {
    projects: [{ projectId: 'right-project', project: { name: 'Portal' } }],
    ...account('right', 0),
  }),
];

function account(orgId: string, balance: number): object {
  return { humanUsers: [person(`${orgId}-account`)], userMetadata: [balanceOf(orgId, balance)] };
}

function balanceOf(orgId: string, balance: number): object {
  return { id: `${orgId}-account`, key: 'balance', value: Buffer.from(String(balance)).toString('base64') };
}

function plan(section: string, json: object, orgId: string): RecordPlan {
  return planRecord(readRecord(sectionNamed(section), json, orgId), false);
}

const userOf = (number: number) => plan('humanUsers', person(`user ${number}`), number % 2 === 0 ? 'left' : 'right');
/** A grant in the other organisation than its user's. */
function grantOf(number: number): RecordPlan {
  const [orgId, projectId] = number % 2 === 0 ? ['right', 'right-project'] : ['left', 'left-project'];
  return plan('userGrants', { userId: `user ${number}`, projectId }, orgId);
}

const create = (one: RecordPlan): Write[] => createWrites(one, new Date().toISOString());
const remove = ({ key, claims }: RecordPlan): Write[] =>
  [key, ...claims.map((claim) => claim.key)].map((at): Write => ({ type: 'delete', key: at }));

/** Makes one change after another: a user, then its grant; a grant away, then its user; money from one account to the other. */
function writerTo(store: Store) {
  const inTurn = createTurns();
  let number = 0;
  const transfer = (orgId: string, balance: number): Write => {
    const { key, record } = plan('userMetadata', balanceOf(orgId, balance), orgId);
    return { type: 'update', key, fields: storedFields(record) };
  };
  return {
    steps: () => number,
    step: () =>
      inTurn(async () => {
        const now = number++;
        await store.commit(create(userOf(now)));
        await store.commit(create(grantOf(now)));
        const right = (now * 7) % SUM;
        await store.commit([transfer('left', SUM - right), transfer('right', right)]);
        if (now < USERS) return;
        await store.commit(remove(grantOf(now - USERS)));
        await store.commit(remove(userOf(now - USERS)));
      }),
  };
}

/** A store between whose reads of a snapshot somebody writes; not `pinned`, its snapshots show what is there at each read. */
function interrupted(store: Store, write: () => Promise<void>, pinned: boolean): Store {
  const between = (snapshot: Snapshot): Snapshot => ({
    ...snapshot,
    async *scan(range) {
      await write();
      const source = pinned ? snapshot : await store.snapshot();
      for await (const documents of source.scan(range)) {
        yield documents;
        await write();
      }
      if (source !== snapshot) await source.close();
    },
  });
  return { ...store, snapshot: async () => between(await store.snapshot()) };
}

const grants = z.array(z.looseObject({ userId: z.string() })).default([]);
const users = z.array(z.looseObject({ userId: z.string() })).default([]);
const metadata = z.array(z.looseObject({ value: z.string() })).default([]);

/** What an export shows that was never so. */
function broken({ orgs }: Exported): string[] {
  const present = new Set(orgs.flatMap((org) => users.parse(org.humanUsers).map(({ userId }) => userId)));
  const granted = orgs.flatMap((org) => grants.parse(org.userGrants).map(({ userId }) => userId));
  const balances = orgs.flatMap((org) =>
    metadata.parse(org.userMetadata).map(({ value }) => Number(Buffer.from(value, 'base64'))),
  );
  const sum = balances.reduce((total, balance) => total + balance, 0);
  return [
    ...granted.filter((userId) => !present.has(userId)).map((userId) => `a grant of ${userId}, who is not there`),
    ...(sum === SUM ? [] : [`${balances.join(' and ')} together`]),
  ];
}

describeStores(faultTable['export while others write'].fault, (kind) => {
  async function filled(pinned: boolean) {
    const store = await openTestStore(kind);
    const writer = writerTo(store);
    const instance = await testInstance(store, 'test', { store: interrupted(store, writer.step, pinned) });
    await instance.import({ data_orgs: { orgs: content } });
    for (let step = 0; step < USERS; step++) await writer.step();
    return { store, instance, writer };
  }

  it(faultTable['export while others write'].outcome, async (context) => {
    const { store, instance, writer } = await filled(true);
    for (let number = 0; number < EXPORTS; number++) {
      const before = writer.steps();
      const exported = await instance.export();
      expect(broken(exported)).toEqual([]);
      expect(exported.manifest.counts.userGrants).toBeGreaterThanOrEqual(USERS - 1);
      expect(writer.steps()).toBeGreaterThan(before + 10);
    }
    expect(violationsOf(await readDatabase(store))).toEqual([]);
    survived(context, 'export while others write', kind.name, EXPORTS);
  });

  it('would show it broken if it did not read from one snapshot', async () => {
    const { instance } = await filled(false);
    expect(broken(await instance.export())).not.toEqual([]);
  });
});
