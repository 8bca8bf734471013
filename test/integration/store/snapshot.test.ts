import { beforeEach, expect, it } from 'vitest';
import type { Store } from '../../../shared/store/store.ts';
import { createUser, createUsers, readUser, scanAll, userKey } from '../../support/stores/documents.ts';
import { describeContract, openTestStore } from '../../support/stores/stores.ts';

describeContract('a snapshot', (kind) => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore(kind);
  });

  it('has everything that was committed before it, and nothing later', async () => {
    await store.commit([createUser('changed', { body: 'old' }), createUser('deleted'), createUser('kept')]);
    const snapshot = await store.snapshot();
    await store.commit([
      { type: 'update', key: userKey('changed'), fields: { body: 'new' } },
      { type: 'delete', key: userKey('deleted') },
      createUser('added'),
    ]);
    const { documents } = await scanAll(snapshot, { collection: 'users' });
    const ids = documents.map(({ id }) => id).toSorted();
    expect(ids).toEqual([userKey('changed').id, userKey('deleted').id, userKey('kept').id].toSorted());
    expect(await snapshot.getMany([userKey('changed'), userKey('deleted'), userKey('added')])).toEqual([
      { id: userKey('changed').id, body: 'old' },
      { id: userKey('deleted').id },
      undefined,
    ]);
    await snapshot[Symbol.asyncDispose]();
    expect(await readUser(store, 'changed')).toMatchObject({ body: 'new' });
  });

  it('is unchanged while it is scanned during other writes', async () => {
    await createUsers(store, 1_500, { state: 'old' });
    const snapshot = await store.snapshot();
    const seen: (string | undefined)[] = [];
    for await (const documents of snapshot.scan({ collection: 'users' })) {
      seen.push(...documents.map(({ state }) => state));
      const later = Array.from({ length: 200 }, (_, index) => `user ${seen.length - 1 - index}`);
      await store.commit([
        ...later.map((name) => ({ type: 'update', key: userKey(name), fields: { state: 'new' } }) as const),
        createUser(`added after ${seen.length}`, { state: 'new' }),
        { type: 'delete', key: userKey(`user ${seen.length - 300}`) },
      ]);
    }
    expect(seen).toEqual(Array.from({ length: 1_500 }, () => 'old'));
    await snapshot[Symbol.asyncDispose]();
  });

  it('sees all or nothing of each commit made meanwhile', async () => {
    const writeTwins = async () => {
      for (let sequence = 0; sequence < 30; sequence += 1) {
        await store.commit([
          { type: 'delete', key: userKey('one') },
          createUser('one', { sequence }),
          { type: 'delete', key: userKey('other') },
          createUser('other', { sequence }),
        ]);
      }
    };
    const readTwins = async () => {
      for (let round = 0; round < 15; round += 1) {
        const snapshot = await store.snapshot();
        const { documents } = await scanAll(snapshot, { collection: 'users' });
        const [one] = await snapshot.getMany([userKey('one')]);
        await snapshot[Symbol.asyncDispose]();
        expect(new Set([one?.sequence, ...documents.map(({ sequence }) => sequence)]).size).toBe(1);
      }
    };
    await Promise.all([writeTwins(), readTwins()]);
  });

  it('has a time, and later ones have later times', async () => {
    const before = Date.now();
    const first = await store.snapshot();
    await store.commit([createUser('between')]);
    const second = await store.snapshot();
    expect(first.readTime.getTime()).toBeGreaterThanOrEqual(before - 1_000);
    expect(second.readTime.getTime()).toBeGreaterThanOrEqual(first.readTime.getTime());
    expect(await first.getMany([userKey('between')])).toEqual([undefined]);
    expect(await second.getMany([userKey('between')])).toEqual([{ id: userKey('between').id }]);
    await Promise.all([first[Symbol.asyncDispose](), second[Symbol.asyncDispose]()]);
  });
});
