import { beforeEach, expect, it } from 'vitest';
import { MAX_COMMIT_BYTES, type Store, WriteConflictError } from '../../../shared/store/store.ts';
import { createUser, readUser, userKey } from '../../support/stores/documents.ts';
import { describeContract, openTestStore } from '../../support/stores/stores.ts';

describeContract('a commit', (kind) => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore(kind);
  });

  it('creates, updates and deletes documents together', async () => {
    await store.commit([createUser('changed', { body: 'old' }), createUser('removed', { body: 'old' })]);
    await store.commit([
      createUser('new', { body: 'new' }),
      { type: 'update', key: userKey('changed'), fields: { body: 'new' } },
      { type: 'delete', key: userKey('removed') },
    ]);
    expect(await store.getMany([userKey('new'), userKey('changed'), userKey('removed')])).toEqual([
      { id: userKey('new').id, body: 'new' },
      { id: userKey('changed').id, body: 'new' },
      undefined,
    ]);
  });

  it('refuses to create a document that exists, and applies no other write', async () => {
    await store.commit([createUser('taken', { body: 'first' })]);
    const commit = store.commit([createUser('free'), createUser('taken', { body: 'second' }), createUser('last')]);
    await expect(commit).rejects.toThrow(WriteConflictError);
    expect(await readUser(store, 'taken')).toMatchObject({ body: 'first' });
    expect(await store.getMany([userKey('free'), userKey('last')])).toEqual([undefined, undefined]);
  });

  it.each([{ body: 'new' }, {}])(
    'refuses to update a document that is missing, by %j, and applies no other write',
    async (fields) => {
      await store.commit([createUser('kept', { body: 'old' })]);
      const commit = store.commit([
        { type: 'update', key: userKey('kept'), fields: { body: 'new' } },
        { type: 'update', key: userKey('missing'), fields },
      ]);
      await expect(commit).rejects.toThrow(WriteConflictError);
      expect(await readUser(store, 'kept')).toMatchObject({ body: 'old' });
      expect(await readUser(store, 'missing')).toBeUndefined();
    },
  );

  it('deletes a document whether or not it exists', async () => {
    await store.commit([createUser('present')]);
    const deletion = { type: 'delete', key: userKey('present') } as const;
    await store.commit([deletion]);
    await store.commit([deletion]);
    await store.commit([]);
    expect(await readUser(store, 'present')).toBeUndefined();
  });

  it('changes only the given fields of an update and removes those given as null', async () => {
    const { id } = userKey('a');
    await store.commit([createUser('a', { body: 'body', state: 'old', passwordHash: 'hash', otpEmail: true })]);
    await store.commit([{ type: 'update', key: userKey('a'), fields: { state: 'new', passwordHash: null } }]);
    expect(await readUser(store, 'a')).toEqual({ id, body: 'body', state: 'new', otpEmail: true });
    await store.commit([{ type: 'update', key: userKey('a'), fields: {} }]);
    expect(await readUser(store, 'a')).toEqual({ id, body: 'body', state: 'new', otpEmail: true });
  });

  it('applies several writes of one document in their order', async () => {
    await store.commit([createUser('a', { body: 'old', state: 'old' })]);
    await store.commit([
      { type: 'delete', key: userKey('a') },
      createUser('a', { body: 'new' }),
      { type: 'update', key: userKey('a'), fields: { digest: 'last' } },
    ]);
    expect(await readUser(store, 'a')).toEqual({ id: userKey('a').id, body: 'new', digest: 'last' });
  });

  it('succeeds once of many creations of the same document', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `claim of ${index}`);
    const outcomes = await Promise.allSettled(names.map((body) => store.commit([createUser('one', { body })])));
    const won = outcomes.findIndex(({ status }) => status === 'fulfilled');
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(reasons).toHaveLength(9);
    for (const reason of reasons) expect(reason).toBeInstanceOf(WriteConflictError);
    expect(await readUser(store, 'one')).toMatchObject({ body: names[won] });
  });

  it('accepts writes up to the limit and rejects far more at once', async () => {
    const large = (bytes: number) =>
      Array.from({ length: 6 }, (_, index) => createUser(`large ${index}`, { body: 'x'.repeat(bytes / 6) }));
    await expect(store.commit(large(MAX_COMMIT_BYTES * 1.4))).rejects.toThrow(/a commit of 6 writes and \d+ bytes/);
    await store.commit(large(MAX_COMMIT_BYTES));
    expect((await readUser(store, 'large 5'))?.body).toHaveLength(MAX_COMMIT_BYTES / 6);
  });

  it('is visible to another store object on the same database, and vice versa', async () => {
    const location = await kind.newLocation();
    const one = await openTestStore(kind, location);
    const other = await openTestStore(kind, location);
    await one.commit([createUser('of one', { body: '1' })]);
    expect(await readUser(other, 'of one')).toMatchObject({ body: '1' });
    await other.commit([{ type: 'update', key: userKey('of one'), fields: { body: '2' } }]);
    expect(await readUser(one, 'of one')).toMatchObject({ body: '2' });
  });
});
