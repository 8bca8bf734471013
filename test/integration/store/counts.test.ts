import { expect, it } from 'vitest';
import { createUser, scanAll, userKey } from '../../support/stores/documents.ts';
import { describeStores, openTestStore } from '../../support/stores/stores.ts';

describeStores('a store', (kind) => {
  it('counts written and found documents, each once, in all of its calls', async () => {
    const store = await openTestStore(kind);
    const called = store.forCall({ signal: new AbortController().signal });
    const { counts } = store;
    await called.commit([createUser('a'), createUser('b')]);
    await expect(called.commit([createUser('a')])).rejects.toThrow();
    expect(counts).toEqual({ written: 2, read: 0 });
    await store.getMany([userKey('a'), userKey('missing')]);
    expect(counts).toEqual({ written: 2, read: 1 });
    await store.transaction(async (transaction) => {
      await transaction.getMany([userKey('a')]);
      transaction.write([{ type: 'update', key: userKey('a'), fields: { orgId: 'p' } }, createUser('c')]);
    });
    expect(counts).toEqual({ written: 4, read: 2 });
    await using snapshot = await called.snapshot();
    await scanAll(snapshot, { collection: 'users' });
    await snapshot.getMany([userKey('b')]);
    expect(called.counts).toEqual({ written: 4, read: 6 });
  });
});
