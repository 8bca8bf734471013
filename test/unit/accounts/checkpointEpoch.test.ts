import { describe, expect, it } from 'vitest';
import {
  beginOverwriting,
  endCheckpointEpoch,
  endOverwriting,
  readCheckpointEpoch,
} from '../../../shared/accounts/checkpointEpoch.ts';
import { MemoryStore } from '../../support/stores/memoryStore.ts';

const NOW = new Date('2026-11-21T10:00:00.000Z');
const LATER = new Date('2026-11-22T10:00:00.000Z');

describe('the epoch of checkpoints', () => {
  it('has no id at first, and costs no document', async () => {
    const store = new MemoryStore();
    expect(await readCheckpointEpoch(store, NOW)).toEqual({ id: '', overwriter: undefined });
    expect(store.contents()).toEqual({});
  });

  it('is another one after each deletion', async () => {
    const store = new MemoryStore();
    const ids = new Set(['']);
    for (let deletions = 0; deletions < 3; deletions++) {
      await store.transaction(endCheckpointEpoch);
      ids.add((await readCheckpointEpoch(store, NOW)).id);
    }
    expect(ids.size).toBe(4);
    expect(Object.keys(store.contents())).toHaveLength(1);
  });

  it('names the import that overwrites, until the mark expires, also when something is deleted meanwhile', async () => {
    const store = new MemoryStore();
    const id = await store.transaction((transaction) => beginOverwriting(transaction, 'import', LATER.toISOString()));
    expect(await readCheckpointEpoch(store, NOW)).toEqual({ id, overwriter: 'import' });
    await store.transaction(endCheckpointEpoch);
    const after = await readCheckpointEpoch(store, NOW);
    expect([after.id === id, after.overwriter]).toEqual([false, 'import']);
    expect(await readCheckpointEpoch(store, LATER)).toEqual({ id: after.id, overwriter: undefined });
  });

  it('is another one, without an overwriter, when that has ended', async () => {
    const store = new MemoryStore();
    const id = await store.transaction((transaction) => beginOverwriting(transaction, 'import', LATER.toISOString()));
    await store.transaction(endOverwriting);
    const after = await readCheckpointEpoch(store, NOW);
    expect([after.id === id, after.overwriter]).toEqual([false, undefined]);
  });
});
