import { expect, it } from 'vitest';
import { z } from 'zod';
import { decorateStore, type Snapshot, type Store } from '../../shared/store/store.ts';
import { type Exported, testInstance } from '../support/instances/testInstance.ts';
import { repetitions } from '../support/repetitions.ts';
import { readDatabase } from '../support/stores/database.ts';
import { violationsOf } from '../support/stores/invariants.ts';
import { describeStores, openTestStore } from '../support/stores/stores.ts';
import { faultTable } from './support/faultTable.ts';
import { survived } from './support/survived.ts';
import { content, SUM, USERS, writerTo } from './support/writer.ts';

const EXPORTS = repetitions({ few: 3, many: 20 });

/** A store with writes between the reads of a snapshot; if it is not `pinned`, its snapshots show the state at each read. */
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
      if (source !== snapshot) await source[Symbol.asyncDispose]();
    },
  });
  return decorateStore(store, (inner) => ({ snapshot: async () => between(await inner.snapshot()) }));
}

const grants = z.array(z.looseObject({ userId: z.string() })).default([]);
const users = z.array(z.looseObject({ userId: z.string() })).default([]);
const metadata = z.array(z.looseObject({ value: z.string() })).default([]);

/** Lists the states in an export that never existed. */
function broken({ orgs }: Exported): string[] {
  const present = new Set(orgs.flatMap((org) => users.parse(org.humanUsers).map(({ userId }) => userId)));
  const granted = orgs.flatMap((org) => grants.parse(org.userGrants).map(({ userId }) => userId));
  const balances = orgs.flatMap((org) =>
    metadata.parse(org.userMetadata).map(({ value }) => Number(Buffer.from(value, 'base64'))),
  );
  const sum = balances.reduce((total, balance) => total + balance, 0);
  return [
    ...granted.filter((userId) => !present.has(userId)).map((userId) => `a grant of ${userId}, who does not exist`),
    ...(sum === SUM ? [] : [`${balances.join(' and ')} together`]),
  ];
}

describeStores(faultTable['export while others write'].fault, (kind) => {
  async function filled(pinned: boolean) {
    const store = await openTestStore(kind);
    const writer = writerTo(store);
    let isFilled = false;
    const write = async () => (isFilled ? writer.step() : undefined);
    const instance = await testInstance(store, 'test', { store: interrupted(store, write, pinned) });
    await instance.import({ data_orgs: { orgs: content } });
    isFilled = true;
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

  it('would be inconsistent without a single snapshot', async () => {
    const { instance } = await filled(false);
    expect(broken(await instance.export())).not.toEqual([]);
  });
});
