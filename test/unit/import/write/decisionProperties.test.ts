import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWritten } from '../../../../functions/import/incomingRecord.ts';
import { documentPath } from '../../../../shared/store/store.ts';
import { MemoryStore } from '../../../support/stores/memoryStore.ts';
import { claimKeys, decide, EARLIER, everyOnConflict, holding, plan } from './decide.ts';

describe('any batches', () => {
  const anyPlan = fc
    .record({
      id: fc.constantFrom('1', '2', '3'),
      name: fc.constantFrom('one', 'two', 'three'),
      orgId: fc.constantFrom('O', 'X'),
      section: fc.constantFrom('humanUsers', 'machineUsers'),
    })
    .map(({ id, name, orgId, section }) => plan(section, { userId: id, user: { userName: name } }, { orgId }));
  const anyBatch = fc.array(anyPlan, { maxLength: 6 });
  const anyOnConflict = fc.constantFrom(...everyOnConflict);

  /** The claims that the stored records should hold, each with its holder. */
  function expectedClaims(contents: ReturnType<MemoryStore['contents']>): Record<string, object> {
    const entries = Object.values(contents).flatMap(({ partition = '', orgId = '', body }) => {
      if (body === undefined) return [];
      const stored = plan(partition.slice(0, partition.indexOf('/')), JSON.parse(body), { orgId });
      return claimKeys(stored).map((key) => [documentPath(key), holding(stored)]);
    });
    return Object.fromEntries(entries);
  }

  it('leave each name with the one record that has it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(anyBatch, anyOnConflict), { maxLength: 4 }), async (batches) => {
        const store = new MemoryStore();
        for (const [index, [batch, onConflict]] of batches.entries()) {
          const stamp = `2026-11-2${Math.floor(index / 2)}T10:00:00.00000${index % 2}Z`;
          await decide(store, batch, onConflict, stamp);
        }
        const claims = Object.entries(store.contents()).filter(([name]) => name.startsWith('claims/'));
        expect(Object.fromEntries(claims)).toEqual(expectedClaims(store.contents()));
      }),
    );
  });

  it('write exactly the records that they report as written', async () => {
    await fc.assert(
      fc.asyncProperty(anyBatch, anyBatch, anyOnConflict, async (earlier, batch, onConflict) => {
        const store = new MemoryStore();
        await decide(store, earlier, 'overwrite', EARLIER);
        const before = store.contents();
        const outcomes = await decide(store, batch, onConflict);
        const written = batch.filter((_, index) => outcomes.slice(index, index + 1).some(isWritten));
        const after = store.contents();
        for (const one of written)
          expect(after[documentPath(one.key)]).toMatchObject({ orgId: one.record.orgId, body: one.record.body });
        const untouched = batch
          .map(({ key }) => documentPath(key))
          .filter((name) => !written.some(({ key }) => documentPath(key) === name));
        for (const name of untouched) expect(after[name]).toEqual(before[name]);
        expect(store.writes.filter(({ key }) => key.collection === 'users')).toHaveLength(written.length);
      }),
    );
  });

  it('stay written when they are sent again under their stamp', async () => {
    const distinct = fc.uniqueArray(anyPlan, { maxLength: 3, selector: ({ key }) => documentPath(key) });
    await fc.assert(
      fc.asyncProperty(anyBatch, distinct, anyOnConflict, async (earlier, batch, onConflict) => {
        const store = new MemoryStore();
        await decide(store, earlier, 'overwrite', EARLIER);
        const first = await decide(store, batch, onConflict);
        const again = await decide(store, batch, onConflict);
        for (const [index, outcome] of first.entries()) {
          if (!isWritten(outcome)) continue;
          expect(again[index]).toEqual(outcome);
          expect(store.writes.map(({ key }) => key)).not.toContainEqual(batch[index]?.key);
        }
      }),
    );
  });
});
