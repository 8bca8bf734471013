import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import {
  type Store,
  type StoredDocument,
  type Transaction,
  type Write,
  WriteConflictError,
} from '../../../shared/store/store.ts';
import { createUser, readUser, userKey } from '../../support/stores/documents.ts';
import { describeContract, openTestStore } from '../../support/stores/stores.ts';

function increment(store: Store, name: string): Promise<number> {
  return store.transaction(async ({ getMany, write }) => {
    const [user] = await getMany([userKey(name)], ['sequence']);
    const sequence = (user?.sequence ?? 0) + 1;
    write([{ type: 'update', key: userKey(name), fields: { sequence } }]);
    return sequence;
  });
}

function setState(name: string, state: string): Write {
  return { type: 'update', key: userKey(name), fields: { state } };
}

/** Decides about the user `other`, who changes between the first read and the commit. Returns the reads of each attempt. */
async function decideDuring(
  store: Store,
  change: Write,
  decide: (transaction: Transaction, other: StoredDocument | undefined) => void,
): Promise<(StoredDocument | undefined)[]> {
  const seen: (StoredDocument | undefined)[] = [];
  await store.transaction(async (transaction) => {
    const [other] = await transaction.getMany([userKey('other')]);
    if (seen.push(other) === 1) await store.commit([change]);
    decide(transaction, other);
  });
  return seen;
}

describeContract('a transaction', (kind) => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore(kind);
  });

  it('loses no change when twenty of them increment one document at once', async () => {
    await store.commit([createUser('counter', { sequence: 0 })]);
    const results = await Promise.all(Array.from({ length: 20 }, () => increment(store, 'counter')));
    expect(results.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(await readUser(store, 'counter')).toMatchObject({ sequence: 20 });
  });

  it('passes the results of earlier attempts to the next one', async () => {
    await store.commit([createUser('counter', { sequence: 0 })]);
    const seen: (readonly number[])[] = [];
    const last = await store.transaction(async ({ getMany, write }, earlier: readonly number[]) => {
      seen.push([...earlier]);
      await getMany([userKey('counter')]);
      if (earlier.length < 2) await store.commit([setState('counter', `changed ${earlier.length}`)]);
      write([setState('counter', 'decided')]);
      return seen.length;
    });
    expect({ seen, last }).toEqual({ seen: [[], [1], [1, 2]], last: 3 });
  });

  it('is repeated until its signal aborts, and throws its reason', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.001);
    onTestFinished(() => void vi.restoreAllMocks());
    await store.commit([createUser('contended')]);
    const controller = new AbortController();
    const reason = new Error('the deadline');
    let attempts = 0;
    const contended = store.transaction(async ({ getMany, write }) => {
      await getMany([userKey('contended')]);
      await store.commit([setState('contended', `change ${++attempts}`)]);
      if (attempts === 15) controller.abort(reason);
      write([setState('contended', 'decided')]);
    }, controller.signal);
    await expect(contended).rejects.toBe(reason);
    expect(attempts).toBe(15);
  });

  it('writes nothing when its work throws, and passes the error on', async () => {
    const failure = new Error('not allowed');
    const transaction = store.transaction(async ({ getMany, write }) => {
      await getMany([userKey('a')]);
      write([createUser('a')]);
      throw failure;
    });
    await expect(transaction).rejects.toBe(failure);
    expect(await readUser(store, 'a')).toBeUndefined();
    await store.commit([createUser('a')]);
  });

  it('writes nothing when one of its writes meets a conflict', async () => {
    await store.commit([createUser('taken')]);
    const transaction = store.transaction(async ({ getMany, write }) => {
      await getMany([userKey('other')]);
      write([createUser('free')]);
      write([createUser('taken')]);
    });
    await expect(transaction).rejects.toThrow(WriteConflictError);
    expect(await readUser(store, 'free')).toBeUndefined();
  });

  it('works without reads and writes', async () => {
    expect(await store.transaction(async () => 'nothing')).toBe('nothing');
    await store.transaction(async ({ write }) => write([createUser('written')]));
    const read = await store.transaction(({ getMany }) => getMany([userKey('written')], []));
    expect(read).toEqual([{ id: userKey('written').id }]);
  });

  it('reads one state however often it reads, even with several reads at once', async () => {
    await store.commit([createUser('a', { sequence: 1 }), createUser('b', { sequence: 1 })]);
    const sums = await Promise.all(
      Array.from({ length: 4 }, () =>
        store.transaction(async ({ getMany, write }) => {
          const [[a], [b]] = await Promise.all([getMany([userKey('a')]), getMany([userKey('b')])]);
          const sequence = (a?.sequence ?? 0) + 1;
          write(['a', 'b'].map((name) => ({ type: 'update', key: userKey(name), fields: { sequence } })));
          return (a?.sequence ?? 0) - (b?.sequence ?? 0);
        }),
      ),
    );
    expect(sums).toEqual([0, 0, 0, 0]);
    expect(await readUser(store, 'b')).toMatchObject({ sequence: 5 });
  });

  it('neither changes nor blocks a document that it holds', async () => {
    await store.commit([createUser('held', { body: 'kept', sequence: 1 }), createUser('written')]);
    let runs = 0;
    await store.transaction(async ({ getMany, write }) => {
      runs++;
      const [user] = await getMany([userKey('held')]);
      await store.transaction(async (other) => {
        await other.getMany([userKey('held')]);
        other.hold([userKey('held')]);
        other.write([setState('written', 'under the held version')]);
      });
      expect(await readUser(store, 'held')).toEqual(user);
      write([{ type: 'update', key: userKey('held'), fields: { sequence: 2 } }]);
    });
    expect(runs).toBe(1);
    expect(await readUser(store, 'held')).toEqual({ id: userKey('held').id, body: 'kept', sequence: 2 });
    expect(await readUser(store, 'written')).toMatchObject({ state: 'under the held version' });
  });

  const changes: readonly (readonly [event: string, isThere: boolean, change: Write])[] = [
    ['changes', true, setState('other', 'changed')],
    ['is deleted', true, { type: 'delete', key: userKey('other') }],
    ['is created', false, createUser('other')],
  ];

  it.each(changes)('is decided again when a document that it holds %s', async (_event, isThere, change) => {
    await store.commit([createUser('written'), ...(isThere ? [createUser('other', { state: 'old' })] : [])]);
    const seen = await decideDuring(store, change, ({ hold, write }, other) => {
      hold([userKey('other')]);
      write([setState('written', `decided with ${other?.state}`)]);
    });
    expect(seen).toHaveLength(2);
    expect(await readUser(store, 'written')).toMatchObject({ state: `decided with ${seen[1]?.state}` });
  });

  it('is decided again when a document that it deletes changes, or is created', async () => {
    for (const [, isThere, change] of changes.filter(([, , { type }]) => type !== 'delete')) {
      if (isThere) await store.commit([createUser('other')]);
      const seen = await decideDuring(store, change, ({ write }) => write([{ type: 'delete', key: userKey('other') }]));
      expect(seen).toHaveLength(2);
      expect(await readUser(store, 'other')).toBeUndefined();
    }
  });

  it('is decided again when a document that it updates is created after it was missing', async () => {
    const seen = await decideDuring(store, createUser('other', { sequence: 1 }), ({ write }, other) =>
      write([setState('other', other === undefined ? 'decided without it' : 'decided with it')]),
    );
    expect(seen).toHaveLength(2);
    expect(await readUser(store, 'other')).toMatchObject({ sequence: 1, state: 'decided with it' });
  });

  it('fails with a conflict, and does not run again, when it updates a document that is missing', async () => {
    let runs = 0;
    const transaction = store.transaction(async ({ getMany, write }) => {
      runs++;
      await getMany([userKey('missing')]);
      write([setState('missing', 'new')]);
    });
    await expect(transaction).rejects.toThrow(WriteConflictError);
    expect(runs).toBe(1);
  });

  it('writes a document several times after reading it', async () => {
    await store.commit([createUser('a', { sequence: 1 }), createUser('b', { sequence: 1 })]);
    await store.transaction(async ({ getMany, write }) => {
      await getMany([userKey('a'), userKey('b')]);
      write([setState('a', 'first'), { type: 'update', key: userKey('a'), fields: { sequence: 2 } }]);
      write([{ type: 'delete', key: userKey('b') }, createUser('b', { sequence: 3 }), setState('b', 'last')]);
    });
    expect(await readUser(store, 'a')).toMatchObject({ state: 'first', sequence: 2 });
    expect(await readUser(store, 'b')).toMatchObject({ state: 'last', sequence: 3 });
  });

  it('rejects a hold of a document that it did not read', async () => {
    const transaction = store.transaction(async ({ hold }) => hold([userKey('unread')]));
    await expect(transaction).rejects.toThrow('held without having been read');
  });

  it('fails with ABORTED when every attempt loses against another writer', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.001);
    onTestFinished(() => void vi.restoreAllMocks());
    await store.commit([createUser('counter', { sequence: 0 })]);
    let runs = 0;
    const transaction = store.transaction(async ({ getMany, write }) => {
      await getMany([userKey('counter')]);
      await store.commit([setState('counter', `attempt ${++runs}`)]);
      write([{ type: 'update', key: userKey('counter'), fields: { sequence: 1 } }]);
    });
    await expect(transaction).rejects.toMatchObject({ code: 'ABORTED' });
    expect(runs).toBeGreaterThan(5);
    expect(await readUser(store, 'counter')).toMatchObject({ sequence: 0, state: `attempt ${runs}` });
  });
});
