import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { OnConflict } from '../../../../functions/import/contract.ts';
import {
  ImportProgress,
  PhaseProgress,
  type PhaseState,
} from '../../../../functions/import/progress/importProgress.ts';
import type { BatchContext } from '../../../../functions/import/write/batchContext.ts';
import { ReservedNames } from '../../../../functions/import/write/references.ts';
import {
  type DocumentKey,
  type DocumentStore,
  type Write,
  WriteConflictError,
} from '../../../../shared/store/store.ts';
import { MemoryStore } from '../../../support/stores/memoryStore.ts';

const NOW = '2026-11-21T10:00:00.000Z';
const written = { written: true, revisit: false };
const unchanged = { written: false, revisit: false };

function contextOf(store: DocumentStore, stamp = NOW, onConflict: OnConflict = 'report'): BatchContext {
  return { store, stamp, onConflict, reservedNames: new ReservedNames(store), batches: 0, expectExisting: false };
}

const load = (store: DocumentStore, key = 'key', stamp = NOW, onConflict?: OnConflict) =>
  ImportProgress.load(contextOf(store, stamp, onConflict), key);

/** Settles records of a phase, from the first on. */
function settle(progress: ImportProgress, count: number, outcome = written): void {
  for (let ordinal = 0; ordinal < count; ordinal++) progress.settle(1, ordinal, outcome);
}

/** Saves a checkpoint of an import that has brought in three records of the first phase. */
async function saveCheckpoint(store: DocumentStore, key = 'key', stamp = NOW): Promise<void> {
  const progress = await load(store, key, stamp);
  settle(progress, 3);
  await progress.save();
}

/** Where the checkpoint of an import is. */
async function placeOf(key: string): Promise<DocumentKey> {
  const store = new MemoryStore();
  await saveCheckpoint(store, key);
  const [write] = store.writes;
  if (write === undefined) throw new Error('no checkpoint was saved');
  return write.key;
}

/** An import other than `key` whose checkpoint is at the same place, or at another. */
async function otherKey(key: string, atSamePlace: boolean): Promise<string> {
  const place = await placeOf(key);
  for (let number = 0; number < 1_000; number++) {
    if (((await placeOf(`${number}`)).id === place.id) === atSamePlace) return `${number}`;
  }
  throw new Error('a thousand imports were not enough');
}

describe('an import', () => {
  it('begins with nothing done where it has no checkpoint', async () => {
    const progress = await load(new MemoryStore());
    expect(progress.resumed).toBe(false);
    for (const phase of [1, 2, 3, 4] as const)
      expect(progress.forPhase(phase).state()).toEqual({ settled: 0, revisit: [] });
  });

  it('resumes from its checkpoint, phase by phase', async () => {
    const store = new MemoryStore();
    const first = await load(store);
    settle(first, 3);
    first.settle(1, 1, { written: false, revisit: true });
    first.settle(4, 0, unchanged);
    await first.save();
    const again = await load(store);
    expect(again.resumed).toBe(true);
    expect(again.forPhase(1).state()).toEqual({ settled: 3, revisit: [1] });
    expect(again.forPhase(2).state()).toEqual({ settled: 0, revisit: [] });
    expect(again.forPhase(4).state()).toEqual({ settled: 1, revisit: [] });
    expect([0, 1, 2, 3].map((ordinal) => again.forPhase(1).isDone(ordinal))).toEqual([true, false, true, false]);
  });

  it.each([true, false])("does not resume from another import's checkpoint (at the same place: %s)", async (isSame) => {
    const store = new MemoryStore();
    await saveCheckpoint(store, await otherKey('key', isSame));
    expect((await load(store)).resumed).toBe(false);
  });

  it('takes the place of another import whose checkpoint is there', async () => {
    const store = new MemoryStore();
    const other = await otherKey('key', true);
    await saveCheckpoint(store, other);
    await saveCheckpoint(store, 'key');
    expect([(await load(store, other)).resumed, (await load(store)).resumed]).toEqual([false, true]);
    expect(Object.keys(store.contents())).toHaveLength(1);
  });

  it.each([
    ['2026-11-22T09:59:59.999Z', true],
    ['2026-11-22T10:00:00.000Z', false],
  ])('resumes within a day: at %s %s', async (stamp, resumed) => {
    const store = new MemoryStore();
    await saveCheckpoint(store);
    expect((await load(store, 'key', stamp)).resumed).toBe(resumed);
  });

  it.each([
    { key: 'key', savedAt: NOW },
    { key: 'key', savedAt: NOW, phases: [{ settled: 3 }] },
    { key: 'key', savedAt: NOW, phases: [{ settled: 3, revisit: ['1'] }] },
    { key: 'key', savedAt: NOW, phases: [{ settled: 1.5, revisit: [] }] },
    ['key'],
    null,
  ])('takes a checkpoint of another shape for none: %j', async (checkpoint) => {
    const key = await placeOf('key');
    const store = await MemoryStore.with([{ type: 'create', key, fields: { body: JSON.stringify(checkpoint) } }]);
    expect((await load(store)).resumed).toBe(false);
    await saveCheckpoint(store);
    expect((await load(store)).resumed).toBe(true);
  });

  it('shares sixteen places with all others', async () => {
    const places = await Promise.all(Array.from({ length: 200 }, (_, number) => placeOf(`${number}`)));
    expect(new Set(places.map(({ collection, id }) => `${collection}/${id}`)).size).toBe(16);
  });
});

describe('a checkpoint', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is saved after 500 records, not before', async () => {
    const store = new MemoryStore();
    const progress = await load(store);
    settle(progress, 499);
    await progress.saveIfDue();
    expect(store.writes).toEqual([]);
    progress.settle(2, 0, unchanged);
    await progress.saveIfDue();
    expect(store.writes).toHaveLength(1);
  });

  it('is saved at most once a second', async () => {
    const store = new MemoryStore();
    const progress = await load(store);
    const savedAfter = async (milliseconds: number) => {
      store.forget();
      vi.advanceTimersByTime(milliseconds);
      settle(progress, 500);
      await progress.saveIfDue();
      return store.writes.length;
    };
    expect([await savedAfter(0), await savedAfter(999), await savedAfter(1)]).toEqual([1, 0, 1]);
    expect([await savedAfter(500), await savedAfter(500)]).toEqual([0, 1]);
  });

  it('is saved again after 500 further records', async () => {
    const store = new MemoryStore();
    const progress = await load(store);
    settle(progress, 500);
    await progress.saveIfDue();
    vi.advanceTimersByTime(60_000);
    settle(progress, 499);
    await progress.saveIfDue();
    expect(store.writes).toHaveLength(1);
    progress.settle(1, 499, written);
    await progress.saveIfDue();
    expect(store.writes).toHaveLength(2);
  });

  it('is saved only once something is written', async () => {
    const store = new MemoryStore();
    const progress = await load(store);
    settle(progress, 500, unchanged);
    await progress.saveIfDue();
    await progress.save();
    expect(store.writes).toEqual([]);
    progress.settle(1, 500, written);
    progress.settle(1, 501, unchanged);
    await progress.save();
    expect(store.writes).toHaveLength(1);
  });

  it('of a resumed import is saved also where this call has written nothing', async () => {
    const store = new MemoryStore();
    await saveCheckpoint(store);
    const progress = await load(store);
    progress.settle(1, 3, unchanged);
    await progress.save();
    expect((await load(store)).forPhase(1).state()).toEqual({ settled: 4, revisit: [] });
  });

  it('replaces the one before, and has the date of its import', async () => {
    const store = new MemoryStore();
    await saveCheckpoint(store, 'key', '2026-11-21T09:00:00.000Z');
    await saveCheckpoint(store, 'key', NOW);
    expect(Object.keys(store.contents())).toHaveLength(1);
    expect((await load(store, 'key', '2026-11-22T09:30:00.000Z')).resumed).toBe(true);
  });

  it('is not saved with more than 10,000 records to look at again, in all phases together', async () => {
    const store = new MemoryStore();
    const progress = await load(store);
    settle(progress, 9_999, { written: true, revisit: true });
    progress.settle(3, 0, { written: false, revisit: true });
    await progress.save();
    progress.settle(3, 1, { written: false, revisit: true });
    await progress.save();
    expect(store.writes).toHaveLength(1);
    expect((await load(store)).forPhase(3).state()).toEqual({ settled: 1, revisit: [0] });
  });

  it('is dropped at the end of its import', async () => {
    const store = new MemoryStore();
    await saveCheckpoint(store);
    const other = await otherKey('key', false);
    await saveCheckpoint(store, other);
    await (await load(store)).finish();
    expect([(await load(store)).resumed, (await load(store, other)).resumed]).toEqual([false, true]);
  });

  it('is dropped by the call that saved it', async () => {
    const store = new MemoryStore();
    const progress = await load(store);
    settle(progress, 3);
    await progress.save();
    await progress.finish();
    expect(store.contents()).toEqual({});
  });

  it('costs no write at the end of an import that saved none', async () => {
    const store = new MemoryStore();
    const progress = await load(store);
    settle(progress, 3);
    await progress.saveIfDue();
    await progress.finish();
    expect(store.writes).toEqual([]);
  });
});

describe('an import that overwrites', () => {
  it.each([
    ['saved by another import', { key: 'other', savedAt: NOW, phases: [] }],
    ['of another shape', { key: 'key' }],
  ])('keeps its own checkpoint and drops one that is %s', async (_what, checkpoint) => {
    const store = new MemoryStore();
    await saveCheckpoint(store);
    const place = await placeOf(await otherKey('key', false));
    await store.commit([{ type: 'create', key: place, fields: { body: JSON.stringify(checkpoint) } }]);
    expect((await load(store, 'key', NOW, 'overwrite')).resumed).toBe(true);
    const { collection, id } = await placeOf('key');
    expect(Object.keys(store.contents())).toEqual([`${collection}/${id}`]);
  });

  it('writes nothing where there is none', async () => {
    const store = new MemoryStore();
    await load(store, 'key', NOW, 'overwrite');
    expect(store.writes).toEqual([]);
  });

  it.each(['report', 'skip'] as const)('is the only kind that drops: %s does not', async (onConflict) => {
    const store = new MemoryStore();
    await saveCheckpoint(store, 'other');
    await load(store, 'key', NOW, onConflict);
    expect((await load(store, 'other')).resumed).toBe(true);
  });
});

describe('saving a checkpoint', () => {
  /** A store whose commits fail. */
  function failing(reason: Error): { store: DocumentStore; tried: Write['type'][] } {
    const tried: Write['type'][] = [];
    const memory = new MemoryStore();
    const commit = async (writes: readonly Write[]) => {
      tried.push(...writes.map(({ type }) => type));
      throw reason;
    };
    return {
      tried,
      store: { getMany: (...read) => memory.getMany(...read), commit, transaction: () => Promise.reject(reason) },
    };
  }

  it('gives way to another import that was quicker', async () => {
    const { store, tried } = failing(new WriteConflictError('conflict'));
    await expect(saveCheckpoint(store)).resolves.toBeUndefined();
    expect(tried).toEqual(['update', 'create']);
  });

  it('fails where the store does', async () => {
    const { store, tried } = failing(new Error('down'));
    await expect(saveCheckpoint(store)).rejects.toThrow('down');
    expect(tried).toEqual(['update']);
  });
});

describe('the progress of a phase', () => {
  it('is nothing at first', () => {
    const progress = new PhaseProgress();
    expect(progress.state()).toEqual({ settled: 0, revisit: [] });
    expect(progress.isDone(0)).toBe(false);
  });

  it('takes what an earlier call has brought in for done, save what is to be looked at again', () => {
    const progress = new PhaseProgress({ settled: 3, revisit: [1] });
    expect([0, 1, 2, 3].map((ordinal) => progress.isDone(ordinal))).toEqual([true, false, true, false]);
  });

  it('does not take for done what this call has decided, since each record is met once', () => {
    const progress = new PhaseProgress();
    progress.settle(0, false);
    expect(progress.isDone(0)).toBe(false);
  });

  it('is kept with what has something to tell, until it has no more', () => {
    const progress = new PhaseProgress({ settled: 3, revisit: [1] });
    progress.settle(1, false);
    progress.settle(3, true);
    expect(progress.state()).toEqual({ settled: 4, revisit: [3] });
  });

  it('never goes back when records of an earlier call are decided again', () => {
    const progress = new PhaseProgress({ settled: 9, revisit: [2] });
    progress.settle(2, true);
    expect(progress.state()).toEqual({ settled: 9, revisit: [2] });
  });

  it('can note a record before those in front of it are decided', () => {
    const progress = new PhaseProgress();
    progress.mark(7, true);
    expect(progress.state()).toEqual({ settled: 0, revisit: [7] });
  });

  it.each([
    [{ settled: 5, revisit: [] }, 5, true],
    [{ settled: 4, revisit: [] }, 5, false],
    [{ settled: 5, revisit: [3] }, 5, false],
  ])('of %j is complete for %i records: %s', (state, records, complete) => {
    expect(new PhaseProgress(state).isComplete(records)).toBe(complete);
  });

  it('takes for done what was settled and is not to be looked at again, and is complete only with all of it', () => {
    const anyStep = fc.record({
      does: fc.constantFrom('settle' as const, 'mark' as const),
      ordinal: fc.nat({ max: 9 }),
      revisit: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 12 }), (steps) => {
        const progress = new PhaseProgress();
        for (const { does, ordinal, revisit } of steps) progress[does](ordinal, revisit);
        const state: PhaseState = JSON.parse(JSON.stringify(progress.state()));
        const resumed = new PhaseProgress(state);
        const settled = Math.max(0, ...steps.filter(({ does }) => does === 'settle').map(({ ordinal }) => ordinal + 1));
        const isOpen = (ordinal: number) => steps.findLast((step) => step.ordinal === ordinal)?.revisit === true;
        const ordinals = Array.from({ length: 10 }, (_, ordinal) => ordinal);
        const done = ordinals.map((ordinal) => ordinal < settled && !isOpen(ordinal));
        expect(ordinals.map((ordinal) => resumed.isDone(ordinal))).toEqual(done);
        for (const records of ordinals)
          expect(resumed.isComplete(records)).toBe(records <= settled && !ordinals.some(isOpen));
      }),
    );
  });
});
