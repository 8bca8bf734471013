import { describe, expect, it } from 'vitest';
import { writeBatch } from '../../../../functions/import/commit/writeBatch.ts';
import type { RecordConflict } from '../../../../functions/import/contract.ts';
import type { RecordPlan } from '../../../../shared/organisation/recordPlan.ts';
import { type DocumentKey, documentPath } from '../../../../shared/store/store.ts';
import { claimKeys, contextOf, project, storeWith } from '../../../support/import/batches.ts';
import type { MemoryStore } from '../../../support/stores/memoryStore.ts';

/** Decides a batch by what is stored; the store's reads are then the batch's own. */
async function decideStored(store: MemoryStore, plans: readonly RecordPlan[], onConflict: RecordConflict) {
  store.forget();
  const context = contextOf(store, onConflict);
  context.pace.readsFirst = true;
  await writeBatch(context, plans);
  return store.reads.map(({ keys, fields }) => [keys.map(documentPath), fields.includes('body')]);
}

describe('the decision about a batch', () => {
  const plans = Array.from({ length: 20 }, (_, index) => project(`${index}`, `name ${index}`));
  const paths = (...keys: readonly DocumentKey[]) => keys.map(documentPath);

  it.each(['report', 'skip', 'overwrite'] as const)(
    'makes a single read of equal records, without bodies and claims (on_conflict %s)',
    async (onConflict) => {
      const store = await storeWith(...plans);
      expect(await decideStored(store, plans, onConflict)).toEqual([[paths(...plans.map(({ key }) => key)), false]]);
    },
  );

  it('reads the claims of new records only', async () => {
    const [first, second] = [project('1', 'one'), project('2', 'two')];
    expect(await decideStored(await storeWith(first), [first, second], 'skip')).toEqual([
      [paths(first.key, second.key), false],
      [paths(...claimKeys(second)), false],
    ]);
  });

  it('reads the bodies of records to overwrite, and the names that they release', async () => {
    const [renamed, former] = [project('1', 'other'), project('1', 'name 1')];
    expect(await decideStored(await storeWith(...plans), [renamed], 'overwrite')).toEqual([
      [paths(renamed.key), false],
      [paths(...claimKeys(renamed)), false],
      [paths(renamed.key), true],
      [paths(...claimKeys(former)), false],
    ]);
  });

  it('makes no read before new records are created', async () => {
    const store = await storeWith();
    await writeBatch(contextOf(store, 'report'), plans);
    expect({ reads: store.reads.length, writes: store.writes.length }).toEqual({ reads: 0, writes: 40 });
  });
});
