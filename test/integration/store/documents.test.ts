import { beforeEach, expect, it } from 'vitest';
import { type DocumentFields, fieldNames } from '../../../shared/store/documentFields.ts';
import { MAX_DOCUMENT_BYTES, type Store } from '../../../shared/store/store.ts';
import { createUser, readUser, scanAll, userKey } from '../../support/stores/documents.ts';
import { describeContract, openTestStore } from '../../support/stores/stores.ts';

const awkwardIds: readonly string[][] = [
  ['/'],
  ['.'],
  ['..'],
  ['a/b/../c'],
  ['__id__'],
  ['|'],
  ['a|b'],
  ['a', 'b'],
  ['a%7cb'],
  ['%'],
  ['%2f'],
  [' '],
  [' a '],
  ['a\nb'],
  ['"\'`\\'],
  ['😀'],
  ['😀👩‍👩‍👧‍👦'],
  ['é'],
  ['e\u0301'],
  ['x'.repeat(200)],
  ['😀'.repeat(200)],
  ['😀'.repeat(200), '%'.repeat(200), '😀'.repeat(200)],
  ['😀'.repeat(200), '%'.repeat(200), '😀'.repeat(199)],
  [''],
  ['', ''],
  ['a', ''],
  ['', 'a'],
  ['user'],
  ['User'],
  ['USER'],
  ['auth0|5f7c8ec7c33c6c004bbafe82'],
];

const allFields: Required<Omit<DocumentFields, 'sealedTotpSeed' | 'sealedClientSecret'>> = {
  partition: 'org/users',
  orgId: 'org',
  body: '{"a":"ä😀\\u0000\\n"}',
  digest: 'digest',
  passwordHash: '$2a$10$hash',
  totpSeed: 'seed',
  clientSecret: 'secret',
  state: 'USER_STATE_ACTIVE',
  otpEmail: true,
  sequence: Number.MAX_SAFE_INTEGER,
  createdAt: '2026-01-02T03:04:05.678Z',
  changedAt: '',
  expiresAt: 'never\nends',
  ownerId: '1',
  importedFrom: 'north',
  lastImport: '{}',
};

describeContract('a stored document', (kind) => {
  let store: Store;
  beforeEach(async () => {
    store = await openTestStore(kind);
  });

  it('is found again under an awkward id, and kept apart from others', async () => {
    const keys = awkwardIds.map((parts) => userKey(...parts));
    await store.commit(keys.map((key, sequence) => ({ type: 'create', key, fields: { sequence } })));
    const expected = keys.map(({ id }, sequence) => ({ id, sequence }));
    expect(await store.getMany(keys)).toEqual(expected);
    expect(await store.getMany([...keys, ...keys])).toEqual([...expected, ...expected]);
    const { documents } = await scanAll(await store.snapshot(), { collection: 'users' });
    expect(documents.toSorted((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0))).toEqual(expected);
  });

  it('has every written field, and no other', async () => {
    await store.commit([
      createUser('full', allFields),
      createUser('empty'),
      createUser('falsy', { otpEmail: false, sequence: 0, state: '' }),
      createUser('negative', { sequence: -1 }),
    ]);
    expect(Object.keys(allFields)).toEqual(fieldNames);
    expect(await readUser(store, 'full')).toEqual({ id: userKey('full').id, ...allFields });
    expect(await readUser(store, 'empty')).toEqual({ id: userKey('empty').id });
    expect(await readUser(store, 'falsy')).toEqual({
      id: userKey('falsy').id,
      otpEmail: false,
      sequence: 0,
      state: '',
    });
    expect(await readUser(store, 'negative')).toMatchObject({ sequence: -1 });
  });

  it('may have the maximum size of a document', async () => {
    const body = 'é'.repeat(MAX_DOCUMENT_BYTES / 2);
    await store.commit([createUser('large', { body })]);
    expect((await readUser(store, 'large'))?.body).toBe(body);
    const { documents } = await scanAll(await store.snapshot(), { collection: 'users' });
    expect(documents.map((document) => document.body)).toEqual([body]);
  });

  it('is read by key in the requested order, including missing and repeated ones', async () => {
    await store.commit([createUser('a', { body: 'A' }), createUser('b', { body: 'B' })]);
    const keys = ['b', 'missing', 'a', 'b'].map((name) => userKey(name));
    const bodies = (await store.getMany(keys)).map((document) => document?.body);
    expect(bodies).toEqual(['B', undefined, 'A', 'B']);
    expect(await store.getMany([])).toEqual([]);
  });

  it('is read by key among those of other collections, however many are read at once', async () => {
    await store.commit([createUser('a', { body: 'user' })]);
    const [user, project] = (['users', 'projects'] as const).map((collection) => ({ ...userKey('a'), collection }));
    if (user === undefined || project === undefined) throw new Error('no keys');
    await store.commit([{ type: 'create', key: project, fields: { body: 'project' } }]);
    const keys = Array.from({ length: 200 }, (_, index) => [project, userKey(`missing ${index}`), user]).flat();
    const bodies = (await store.getMany(keys, ['body'])).map((document) => document?.body);
    expect(bodies).toEqual(Array.from({ length: 200 }, () => ['project', undefined, 'user']).flat());
  });

  it('is read by key with only the requested fields', async () => {
    await store.commit([createUser('a', { body: 'A', passwordHash: 'hash' })]);
    const { id } = userKey('a');
    expect(await store.getMany([userKey('a')], ['body', 'state'])).toEqual([{ id, body: 'A' }]);
    expect(await store.getMany([userKey('a'), userKey('b')], [])).toEqual([{ id }, undefined]);
  });

  it('is read among thousands of keys at once', async () => {
    const names = Array.from({ length: 4_500 }, (_, index) => `user ${index}`);
    await store.commit(names.slice(0, 500).map((name) => createUser(name)));
    const documents = await store.getMany(names.map((name) => userKey(name)));
    expect(documents.indexOf(undefined)).toBe(500);
    expect(documents.filter((document) => document !== undefined)).toHaveLength(500);
  });

  it('belongs to its collection: the same id in another collection is another document', async () => {
    const { id } = userKey('a');
    await store.commit([createUser('a', { body: 'user' })]);
    await store.commit([{ type: 'create', key: { collection: 'claims', id }, fields: { body: 'claim' } }]);
    await store.commit([{ type: 'delete', key: { collection: 'claims', id } }]);
    expect(await readUser(store, 'a')).toMatchObject({ body: 'user' });
  });
});
