import { beforeEach, expect, it } from 'vitest';
import type { Store } from '../../../shared/store/store.ts';
import { createUser, createUsers, scanAll, userKey } from '../../support/stores/documents.ts';
import { describeContract, openTestStore } from '../../support/stores/stores.ts';

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

describeContract('a scan', (kind) => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore(kind);
  });

  it('returns every document of a collection once, always in the same order, in arrays of some hundreds', async () => {
    expect(await scanAll(await store.snapshot(), { collection: 'users' })).toEqual({ documents: [], sizes: [] });
    await createUsers(store, 1_234);
    await store.commit([{ type: 'create', key: { collection: 'projects', id: 'other' }, fields: {} }]);
    const { documents, sizes } = await scanAll(await store.snapshot(), { collection: 'users' });
    const expected = Array.from({ length: 1_234 }, (_, index) => userKey(`user ${index}`).id);
    expect(documents.map(({ id }) => id).toSorted(byBytes)).toEqual(expected.toSorted(byBytes));
    expect(sizes).toEqual([500, 500, 234]);
    expect((await scanAll(await store.snapshot(), { collection: 'users' })).documents).toEqual(documents);
  });

  it('returns large documents in arrays of about a megabyte', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    for (const id of ids)
      await store.commit([{ type: 'create', key: { collection: 'users', id }, fields: { body: 'x'.repeat(400_000) } }]);
    const { documents, sizes } = await scanAll(await store.snapshot(), { collection: 'users' });
    expect(documents.map(({ id }) => id).toSorted()).toEqual(ids);
    expect(sizes).toEqual([3, 3, 1]);
  });

  it('stays within a partition, and begins at an id', async () => {
    const partitions = [undefined, 'org 1/humanUsers', 'org 2/humanUsers'];
    await store.commit(
      Array.from({ length: 18 }, (_, index) => {
        const partition = partitions[index % 3];
        return createUser(`user ${index}`, { ...(partition ? { partition } : {}) });
      }),
    );
    const snapshot = await store.snapshot();
    const all = (await scanAll(snapshot, { collection: 'users', fields: ['partition'] })).documents;
    for (const partition of [...partitions, 'org 3/humanUsers']) {
      const own = all.filter((document) => partition === undefined || document.partition === partition);
      const ids = own.map(({ id }) => id);
      const range = { collection: 'users', ...(partition ? { partition } : {}) } as const;
      expect((await scanAll(snapshot, range)).documents.map(({ id }) => id)).toEqual(ids);
      for (const [start, from] of ids.entries()) {
        const { documents } = await scanAll(snapshot, { ...range, from });
        expect(documents.map(({ id }) => id)).toEqual(ids.slice(start));
      }
    }
  });

  it('returns a range of partitions in the order of their bytes, and each in the order of ids', async () => {
    const names = ['s/', 's/a', 's/a/b', 's/a0', 's/B', 's/ä', 's/｡', 's/😀', 'r/z', 's', 's0', 't/a'];
    const ids = ['a', 'b', 'c'];
    await store.commit([
      ...names.flatMap((partition, index) =>
        ids.map((id) => {
          const key = { collection: 'users', id: `${id}${index}` } as const;
          return { type: 'create', key, fields: { partition, body: partition } } as const;
        }),
      ),
      createUser('without partition'),
    ]);
    const range = { collection: 'users', partitions: { from: 's/', to: 's0' }, fields: ['body'] } as const;
    const { documents } = await scanAll(await store.snapshot(), range);
    const expected = names.slice(0, 8).toSorted(byBytes);
    expect([...new Set(documents.map(({ body }) => body))]).toEqual(expected);
    const { documents: again } = await scanAll(await store.snapshot(), range);
    expect(again).toEqual(documents);
    expect(documents).toHaveLength(expected.length * ids.length);
  });

  it('returns every document of many partitions once, in small arrays', async () => {
    await createUsers(store, 250, { partition: 's/a' });
    await store.commit([createUser('later', { partition: 's/b', sequence: 250 })]);
    const range = { collection: 'users', partitions: { from: 's/a', to: 's/c' }, fields: ['sequence'] } as const;
    const { documents, sizes } = await scanAll(await store.snapshot(), range);
    const sequences = documents.map(({ sequence }) => sequence ?? -1);
    expect(sequences.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 251 }, (_, index) => index));
    expect(sequences.at(-1)).toBe(250);
    expect(sizes).toEqual([100, 100, 51]);
  });

  it('returns only the requested fields', async () => {
    await store.commit([createUser('a', { body: 'body', passwordHash: 'secret', otpEmail: false })]);
    const snapshot = await store.snapshot();
    const { id } = userKey('a');
    const scanFields = async (fields: ('body' | 'otpEmail' | 'state')[]) =>
      (await scanAll(snapshot, { collection: 'users', fields })).documents;
    expect(await scanFields(['body', 'otpEmail', 'state'])).toEqual([{ id, body: 'body', otpEmail: false }]);
    expect(await scanFields([])).toEqual([{ id }]);
  });

  it('can be stopped early, and others of the same snapshot continue', async () => {
    await createUsers(store, 2_000);
    const snapshot = await store.snapshot();
    for await (const documents of snapshot.scan({ collection: 'users' })) {
      expect(documents).toHaveLength(500);
      break;
    }
    const [one, other] = await Promise.all([
      scanAll(snapshot, { collection: 'users' }),
      scanAll(snapshot, { collection: 'users' }),
    ]);
    expect(one.documents).toHaveLength(2_000);
    expect(other.documents).toEqual(one.documents);
    await snapshot[Symbol.asyncDispose]();
  });

  it('lets other work run between its arrays', async () => {
    await createUsers(store, 3_000);
    const snapshot = await store.snapshot();
    let turns = 0;
    const countTurns = () => {
      turns += 1;
      next = setImmediate(countTurns);
    };
    let next = setImmediate(countTurns);
    const turnsAtArrays: number[] = [];
    for await (const _ of snapshot.scan({ collection: 'users' })) turnsAtArrays.push(turns);
    clearImmediate(next);
    await snapshot[Symbol.asyncDispose]();
    expect(turnsAtArrays).toHaveLength(6);
    expect(new Set(turnsAtArrays).size).toBe(6);
  });
});
