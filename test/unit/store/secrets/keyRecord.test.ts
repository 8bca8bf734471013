import { afterEach, describe, expect, it, vi } from 'vitest';
import { createStore } from '../../../../shared/store/createStore.ts';
import type { Database, Moment } from '../../../../shared/store/database.ts';
import { FORMAT, instanceKey } from '../../../../shared/store/instance.ts';
import { trialAdvice } from '../../../../shared/store/overlay.ts';
import { keyRecordKey, sharedGuard } from '../../../../shared/store/secrets/keyRecord.ts';
import { emptyKeyring } from '../../../../shared/store/secrets/keyring.ts';
import type { Store } from '../../../../shared/store/store.ts';
import { createUser, userKey } from '../../../support/stores/documents.ts';
import { MemoryStore } from '../../../support/stores/memoryStore.ts';

/** Guards a database in memory, of which a moment is not opened in time. */
function guarded(memory: MemoryStore): Store {
  const database: Database<Moment> = {
    read: async (keys, fields) => ({
      documents: await memory.getMany(keys, fields),
      versions: keys.map(() => undefined),
    }),
    async *scan() {},
    commit: (writes) => memory.commit(writes),
    moment: () => new Promise(() => {}),
    advice: trialAdvice,
    close: async () => {},
    trail: undefined,
    lock: { take: () => Promise.reject(new Error('no lock')), position: () => Promise.reject(new Error('no lock')) },
  };
  return createStore(database, sharedGuard(emptyKeyring()));
}

async function storeOfFormat(format: number | undefined) {
  const store = new MemoryStore();
  await store.commit([
    { type: 'create', key: instanceKey, fields: { body: JSON.stringify({ name: 'north', format }) } },
  ]);
  store.forget();
  return store;
}

const rejected = (found: string) => ({
  code: 'UNAVAILABLE',
  httpStatus: 503,
  message: expect.stringMatching(`^the database has ${found}, and this version needs format ${FORMAT}: `),
});

const everyOperation: readonly (readonly [name: string, run: (store: Store) => Promise<unknown>])[] = [
  ['getMany', (store) => store.getMany([userKey('a')])],
  ['commit', (store) => store.commit([createUser('a')])],
  ['transaction', (store) => store.transaction(async ({ write }) => write([createUser('a')]))],
  ['snapshot', (store) => store.snapshot()],
];

describe('a store that several processes share', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each(everyOperation)('rejects %s on a database of another format, each time', async (_name, run) => {
    const memory = await storeOfFormat(FORMAT + 1);
    const store = guarded(memory);
    await expect(run(store)).rejects.toMatchObject(rejected(`format ${FORMAT + 1}`));
    await expect(run(store)).rejects.toMatchObject(rejected(`format ${FORMAT + 1}`));
    expect(memory.writes).toEqual([]);
  });

  it('rejects an older format, and an instance without one', async () => {
    const commit = async (format: number | undefined) => guarded(await storeOfFormat(format)).commit([createUser('a')]);
    await expect(commit(FORMAT - 1)).rejects.toMatchObject(rejected(`format ${FORMAT - 1}`));
    await expect(commit(undefined)).rejects.toMatchObject(rejected('no format'));
  });

  it('accepts its own format, and reads it once', async () => {
    const memory = await storeOfFormat(FORMAT);
    const store = guarded(memory);
    for (const name of ['a', 'b', 'c']) await store.commit([createUser(name)]);
    expect(memory.reads).toEqual([{ keys: [instanceKey, keyRecordKey], fields: ['body'] }]);
  });

  it('accepts a database without an instance', async () => {
    const memory = new MemoryStore();
    await guarded(memory).commit([createUser('a')]);
    expect(memory.writes).toHaveLength(1);
  });

  it('notices within a minute that another version has migrated the database', async () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    const memory = await storeOfFormat(FORMAT);
    const store = guarded(memory);
    await store.commit([createUser('a')]);
    const body = JSON.stringify({ name: 'north', format: FORMAT + 1 });
    await memory.commit([{ type: 'update', key: instanceKey, fields: { body } }]);
    now.mockReturnValue(60_000);
    await expect(store.commit([createUser('b')])).rejects.toMatchObject(rejected(`format ${FORMAT + 1}`));
  });
});
