import { expect, it } from 'vitest';
import { type Store, WriteConflictError } from '../../shared/store/store.ts';
import { createUser, readUser, userKey } from '../support/stores/documents.ts';
import { describeStores, openTestStore } from '../support/stores/stores.ts';

function increment(store: Store, name: string): Promise<number> {
  return store.transaction(async ({ getMany, write }) => {
    const [user] = await getMany([userKey(name)], ['sequence']);
    const sequence = (user?.sequence ?? 0) + 1;
    write([{ type: 'update', key: userKey(name), fields: { sequence } }]);
    return sequence;
  });
}

function swap(store: Store): Promise<void> {
  const keys = [userKey('left'), userKey('right')] as const;
  return store.transaction(async ({ getMany, write }) => {
    const [left, right] = await getMany(keys);
    write([
      { type: 'update', key: keys[0], fields: { body: right?.body ?? null } },
      { type: 'update', key: keys[1], fields: { body: left?.body ?? null } },
    ]);
  });
}

describeStores('a transaction', (kind) => {
  it('gives what its work returned and commits what it wrote', async () => {
    const store = await openTestStore(kind);
    await store.commit([createUser('counter', { sequence: 4 })]);
    expect(await increment(store, 'counter')).toBe(5);
    expect(await readUser(store, 'counter')).toMatchObject({ sequence: 5 });
  });

  it('loses no change when twenty of them increment one document at once', { timeout: 120_000 }, async () => {
    const store = await openTestStore(kind);
    await store.commit([createUser('counter', { sequence: 0 })]);
    const results = await Promise.all(Array.from({ length: 20 }, () => increment(store, 'counter')));
    expect(results.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(await readUser(store, 'counter')).toMatchObject({ sequence: 20 });
  });

  it('loses no value when several store objects swap two documents at once', { timeout: 120_000 }, async () => {
    const location = await kind.newLocation();
    const one = await openTestStore(kind, location);
    const other = await openTestStore(kind, location);
    await one.commit([createUser('left', { body: 'L' }), createUser('right', { body: 'R' })]);
    await Promise.all([swap(one), swap(other), swap(one), swap(other), swap(one)]);
    expect(await readUser(other, 'left')).toMatchObject({ body: 'R' });
    expect(await readUser(other, 'right')).toMatchObject({ body: 'L' });
  });

  it('loses no change against commits from outside', { timeout: 120_000 }, async () => {
    const store = await openTestStore(kind);
    await store.commit([createUser('counter', { sequence: 0 })]);
    const commits = Array.from({ length: 5 }, (_, index) =>
      store.commit([{ type: 'update', key: userKey('counter'), fields: { state: `state ${index}` } }]),
    );
    await Promise.all([increment(store, 'counter'), ...commits, increment(store, 'counter')]);
    expect(await readUser(store, 'counter')).toMatchObject({ sequence: 2, state: expect.stringMatching(/^state \d$/) });
  });

  it('writes nothing when its work throws, and passes the error on', async () => {
    const store = await openTestStore(kind);
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
    const store = await openTestStore(kind);
    await store.commit([createUser('taken')]);
    const transaction = store.transaction(async ({ getMany, write }) => {
      await getMany([userKey('other')]);
      write([createUser('free')]);
      write([createUser('taken')]);
    });
    await expect(transaction).rejects.toThrow(WriteConflictError);
    expect(await readUser(store, 'free')).toBeUndefined();
  });

  it('needs no reads and no writes', async () => {
    const store = await openTestStore(kind);
    expect(await store.transaction(async () => 'nothing')).toBe('nothing');
    await store.transaction(async ({ write }) => write([createUser('written')]));
    const read = await store.transaction(({ getMany }) => getMany([userKey('written')], []));
    expect(read).toEqual([{ id: userKey('written').id }]);
  });

  it('reads one state however often it reads, several reads at once among them', async () => {
    const store = await openTestStore(kind);
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
});
