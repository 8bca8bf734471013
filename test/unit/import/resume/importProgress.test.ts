import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { OnConflict } from '../../../../functions/import/contract.ts';
import { checkpointKey } from '../../../../functions/import/resume/checkpoint.ts';
import { ImportProgress } from '../../../../functions/import/resume/importProgress.ts';
import { ImportNotes } from '../../../../functions/import/resume/notes.ts';
import { OverwriteMark } from '../../../../functions/import/resume/overwriteMark.ts';
import type { BatchContext } from '../../../../functions/import/write/batchContext.ts';
import { ReservedNames } from '../../../../functions/import/write/claimedNames.ts';
import { RemovalWatch } from '../../../../functions/import/write/guardedStore.ts';
import { endCheckpointEpoch } from '../../../../shared/accounts/checkpointEpoch.ts';
import { defaultPasswordHashing } from '../../../../shared/passwordHashing.ts';
import {
  type DocumentKey,
  type DocumentStore,
  type Write,
  WriteConflictError,
} from '../../../../shared/store/store.ts';
import { MemoryStore } from '../../../support/stores/memoryStore.ts';

const NOW = '2026-11-21T10:00:00.000Z';
/** A database without notes of earlier calls. */
const emptyBase: BatchContext['base'] = {
  snapshot: async () => ({
    readTime: new Date(NOW),
    getMany: async () => [],
    async *scan() {},
    [Symbol.asyncDispose]: async () => {},
  }),
};
const written = { written: true, revisit: false };
const unchanged = { written: false, revisit: false };

function contextOf(store: DocumentStore, stamp = NOW, onConflict: OnConflict = 'report'): BatchContext {
  const now = () => new Date(stamp);
  const settings = { store, base: emptyBase, stamp, now, onConflict, reservedNames: new ReservedNames(store) };
  const { signal } = new AbortController();
  const mark = new OverwriteMark(checkpointKey('import'), now);
  const notes = new ImportNotes(emptyBase, { identity: 'import', call: stamp, mark, now });
  const watch = new RemovalWatch(store, [], { version: '', orgIds: new Set() });
  return {
    ...settings,
    passwordHashing: defaultPasswordHashing,
    signal,
    notes,
    watch,
    mayHaveOverwritten: false,
    batches: 0,
    expectExisting: false,
  };
}

/** Loads the progress of an import, with the store for its records. */
async function load(
  store: DocumentStore,
  identity = 'key',
  stamp = NOW,
  onConflict?: OnConflict,
  base: BatchContext['base'] = emptyBase,
) {
  const context = { ...contextOf(store, stamp, onConflict), base };
  const key = checkpointKey(identity);
  const mark = new OverwriteMark(key, context.now);
  const progress = await ImportProgress.load(context, key, mark);
  return Object.assign(progress, { store: onConflict === 'overwrite' ? mark.watch(store) : store });
}

/** Reads a record of a phase, and settles it. */
function settleOne(progress: ImportProgress, phase: 1 | 2 | 4, ordinal: number, outcome = written): void {
  progress.forPhase(phase).open(ordinal);
  progress.settle(phase, ordinal, outcome);
}

/** Reads records of a phase, from the first on, and settles them. */
function settle(progress: ImportProgress, count: number, outcome = written): void {
  for (let ordinal = 0; ordinal < count; ordinal++) settleOne(progress, 1, ordinal, outcome);
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

describe('an import', () => {
  it('begins with nothing done where it has no checkpoint', async () => {
    const progress = await load(new MemoryStore());
    expect(progress.resumed).toBe(false);
    for (const phase of [1, 2, 3, 4] as const) expect(progress.forPhase(phase).state()).toEqual({ read: 0, open: [] });
  });

  it('resumes from its checkpoint, phase by phase', async () => {
    const store = new MemoryStore();
    const first = await load(store);
    settleOne(first, 1, 0);
    settleOne(first, 1, 1, { written: false, revisit: true });
    settleOne(first, 1, 2);
    settleOne(first, 4, 0, unchanged);
    await first.save();
    const again = await load(store);
    expect(again.resumed).toBe(true);
    expect(again.forPhase(1).state()).toEqual({ read: 3, open: [[1, 2]] });
    expect(again.forPhase(2).state()).toEqual({ read: 0, open: [] });
    expect(again.forPhase(4).state()).toEqual({ read: 1, open: [] });
    expect([0, 1, 2, 3].map((ordinal) => again.forPhase(1).open(ordinal))).toEqual([false, true, false, true]);
  });

  it("does not resume from another import's checkpoint, and leaves that alone", async () => {
    const store = new MemoryStore();
    await saveCheckpoint(store, 'other');
    expect((await load(store)).resumed).toBe(false);
    await saveCheckpoint(store, 'key');
    expect([(await load(store, 'other')).resumed, (await load(store)).resumed]).toEqual([true, true]);
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
    '{"phases":[]}',
    '{"epoch":""}',
    '{"epoch":"","phases":[{"read":3}]}',
    '{"epoch":"","phases":[{"read":3,"open":[1]}]}',
    '{"epoch":"","phases":[{"read":3,"open":[[1,"2"]]}]}',
    '{"epoch":"","phases":[{"read":1.5,"open":[]}]}',
    '["key"]',
    'null',
    '{',
    '',
  ])('takes a checkpoint of another shape for none: %s', async (body) => {
    const key = await placeOf('key');
    const fields = { body, expiresAt: '2026-11-22T10:00:00.000Z' };
    const store = await MemoryStore.with([{ type: 'create', key, fields }]);
    expect((await load(store)).resumed).toBe(false);
    await saveCheckpoint(store);
    expect((await load(store)).resumed).toBe(true);
  });

  it('takes a checkpoint without an expiry for none', async () => {
    const store = new MemoryStore();
    await saveCheckpoint(store);
    await store.commit([{ type: 'update', key: await placeOf('key'), fields: { expiresAt: null } }]);
    expect((await load(store)).resumed).toBe(false);
  });

  it('does not resume once records were deleted, nor does an import that ran meanwhile', async () => {
    const store = new MemoryStore();
    await saveCheckpoint(store);
    const running = await load(store, 'other');
    await store.transaction(endCheckpointEpoch);
    settle(running, 3);
    await running.save();
    expect([(await load(store)).resumed, (await load(store, 'other')).resumed]).toEqual([false, false]);
    await saveCheckpoint(store);
    expect((await load(store)).resumed).toBe(true);
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
    settleOne(progress, 2, 0, unchanged);
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

  it('is saved only once something is written', async () => {
    const store = new MemoryStore();
    const progress = await load(store);
    settle(progress, 500, unchanged);
    await progress.saveIfDue();
    await progress.save();
    expect(store.writes).toEqual([]);
    settleOne(progress, 1, 500);
    settleOne(progress, 1, 501, unchanged);
    await progress.save();
    expect(store.writes).toHaveLength(1);
  });

  it('of a resumed import is saved also where this call has written nothing', async () => {
    const store = new MemoryStore();
    await saveCheckpoint(store);
    const progress = await load(store);
    settleOne(progress, 1, 3, unchanged);
    await progress.save();
    expect((await load(store)).forPhase(1).state()).toEqual({ read: 4, open: [] });
  });

  it('replaces the one before, and has the date of its import', async () => {
    const store = new MemoryStore();
    await saveCheckpoint(store, 'key', '2026-11-21T09:00:00.000Z');
    await saveCheckpoint(store, 'key', NOW);
    expect(Object.keys(store.contents())).toHaveLength(1);
    expect((await load(store, 'key', '2026-11-22T09:30:00.000Z')).resumed).toBe(true);
  });

  it('is saved before those that have expired are deleted, once in a call', async () => {
    const store = new MemoryStore();
    const scans: number[] = [];
    const snapshot = async () => {
      scans.push(store.writes.length);
      return emptyBase.snapshot();
    };
    const progress = await load(store, 'key', NOW, 'report', { snapshot });
    settle(progress, 3);
    await progress.save();
    await progress.save();
    expect(scans).toEqual([1]);
  });

  it('is dropped at the end of its import', async () => {
    const store = new MemoryStore();
    await saveCheckpoint(store);
    await saveCheckpoint(store, 'other');
    await (await load(store)).finish();
    expect([(await load(store)).resumed, (await load(store, 'other')).resumed]).toEqual([false, true]);
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
  const record: DocumentKey = { collection: 'users', id: 'U' };
  const withRecord = () => MemoryStore.with([{ type: 'create', key: record, fields: { body: 'a' } }]);
  const loadOverwriting = (store: DocumentStore, key = 'overwriting', stamp = NOW) =>
    load(store, key, stamp, 'overwrite');
  /** Overwrites a record as a batch does. */
  const overwrite = (progress: Awaited<ReturnType<typeof load>>) =>
    progress.store.transaction(async (transaction) =>
      transaction.write([{ type: 'update', key: record, fields: { body: 'b' } }]),
    );
  const resumes = async (store: DocumentStore, key: string) => (await load(store, key)).resumed;

  it('voids what others saved before, with the commit that overwrites', async () => {
    const store = await withRecord();
    await saveCheckpoint(store, 'other');
    const progress = await loadOverwriting(store);
    expect(await resumes(store, 'other')).toBe(true);
    await overwrite(progress);
    expect(await resumes(store, 'other')).toBe(false);
  });

  it('voids what others save while it runs, also when it is killed', async () => {
    const store = await withRecord();
    const before = await load(store, 'before');
    await overwrite(await loadOverwriting(store));
    settle(before, 3);
    await before.save();
    await saveCheckpoint(store, 'after');
    expect([await resumes(store, 'before'), await resumes(store, 'after')]).toEqual([false, false]);
  });

  it('lets others save again once it is complete, or after a day', async () => {
    const store = await withRecord();
    const progress = await loadOverwriting(store);
    await overwrite(progress);
    await saveCheckpoint(store, 'other', '2026-11-22T11:00:00.000Z');
    expect((await load(store, 'other', '2026-11-22T11:00:00.000Z')).resumed).toBe(true);
    await progress.finish();
    await saveCheckpoint(store, 'third');
    expect([await resumes(store, 'other'), await resumes(store, 'third')]).toEqual([false, true]);
  });

  it('resumes from its own checkpoint, in a later call too', async () => {
    const store = await withRecord();
    const progress = await loadOverwriting(store);
    await overwrite(progress);
    settle(progress, 3);
    await progress.save();
    const again = await loadOverwriting(store);
    expect(again.resumed).toBe(true);
    await overwrite(again);
    await again.save();
    const last = await loadOverwriting(store);
    expect(last.resumed).toBe(true);
    await last.finish();
    await saveCheckpoint(store, 'other');
    expect(await resumes(store, 'other')).toBe(true);
  });

  it('does not resume past a deletion between its start and its first overwrite', async () => {
    const store = await withRecord();
    const progress = await loadOverwriting(store);
    await store.transaction(endCheckpointEpoch);
    await overwrite(progress);
    settle(progress, 3);
    await progress.save();
    expect((await loadOverwriting(store)).resumed).toBe(false);
  });

  it('leaves no checkpoint valid beside another one, until a day has passed', async () => {
    const store = await withRecord();
    const [one, two] = [await loadOverwriting(store, 'one'), await loadOverwriting(store, 'two')];
    await overwrite(one);
    await overwrite(two);
    await two.finish();
    await saveCheckpoint(store, 'other');
    expect(await resumes(store, 'other')).toBe(false);
    await saveCheckpoint(store, 'other', '2026-11-22T11:00:00.000Z');
    expect((await load(store, 'other', '2026-11-22T11:00:00.000Z')).resumed).toBe(true);
  });

  it('writes nothing of that where it only creates', async () => {
    const store = new MemoryStore();
    const progress = await loadOverwriting(store);
    await progress.store.transaction(async (transaction) =>
      transaction.write([{ type: 'create', key: record, fields: { body: 'a' } }]),
    );
    await progress.finish();
    expect(store.writes.map(({ key }) => key)).toEqual([record]);
  });

  it.each(['report', 'skip'] as const)('is the only kind that voids: %s does not', async (onConflict) => {
    const store = await withRecord();
    await saveCheckpoint(store, 'other');
    await overwrite(await load(store, 'key', NOW, onConflict));
    expect(await resumes(store, 'other')).toBe(true);
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
