import { afterEach, describe, expect, it, vi } from 'vitest';
import { FORMAT, guardFormat, instanceKey } from '../../../shared/store/format.ts';
import type { Store } from '../../../shared/store/store.ts';
import { capturedLog } from '../../support/http/capturedLog.ts';
import { createUser, userKey } from '../../support/stores/documents.ts';
import { MemoryStore } from '../../support/stores/memoryStore.ts';

const logged = capturedLog();

class OpenMemoryStore extends MemoryStore implements Store {
  snapshot = (): Promise<never> => Promise.reject(new Error('no snapshot'));
  lastingSnapshot = (): Promise<never> => new Promise(() => {});
  close = async () => {};
}

async function storeOfFormat(format: number | undefined) {
  const store = new OpenMemoryStore();
  await store.commit([
    { type: 'create', key: instanceKey, fields: { body: JSON.stringify({ name: 'north', format }) } },
  ]);
  store.forget();
  return store;
}

const tooNew = { code: 'UNAVAILABLE', httpStatus: 503, message: expect.stringContaining(`format ${FORMAT + 1}`) };
const everyOperation: readonly (readonly [name: string, run: (store: Store) => Promise<unknown>])[] = [
  ['getMany', (store) => store.getMany([userKey('a')])],
  ['commit', (store) => store.commit([createUser('a')])],
  ['transaction', (store) => store.transaction(async ({ write }) => write([createUser('a')]))],
  ['snapshot', (store) => store.snapshot()],
  ['lastingSnapshot', async (store) => await store.lastingSnapshot?.(new AbortController().signal)],
];

describe('a guarded store', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each(everyOperation)('rejects %s on a database of a newer format, each time', async (name, run) => {
    const memory = await storeOfFormat(FORMAT + 1);
    if (name === 'snapshot') memory.snapshot = () => new Promise(() => {});
    const store = guardFormat(memory);
    await expect(run(store)).rejects.toMatchObject(tooNew);
    await expect(run(store)).rejects.toMatchObject(tooNew);
    expect(memory.writes).toEqual([]);
  });

  it.each([FORMAT, FORMAT - 1, undefined])('accepts format %s, and reads it once', async (format) => {
    const memory = await storeOfFormat(format);
    const store = guardFormat(memory);
    for (const name of ['a', 'b', 'c']) await store.commit([createUser(name)]);
    expect(memory.reads).toEqual([{ keys: [instanceKey], fields: ['body'] }]);
  });

  it.each([
    [{ format: FORMAT }, 0],
    [{ format: FORMAT - 1 }, 1],
    [{}, 1],
    [{ format: FORMAT, migratedFrom: 1 }, 1],
  ])('warns once of a database that must be upgraded: %j', async (stored, warnings) => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    const memory = new OpenMemoryStore();
    const body = JSON.stringify({ name: 'north', ...stored });
    await memory.commit([{ type: 'create', key: instanceKey, fields: { body } }]);
    const store = guardFormat(memory);
    for (const time of [0, 60_000, 120_000]) {
      now.mockReturnValue(time);
      await store.getMany([userKey('a')]);
    }
    expect(logged().match(/the database has an older format: run identity upgrade/g) ?? []).toHaveLength(warnings);
  });

  it('accepts a database without an instance', async () => {
    const memory = new OpenMemoryStore();
    await guardFormat(memory).commit([createUser('a')]);
    expect(memory.writes).toHaveLength(1);
  });

  it('notices within a minute that a newer version has migrated the database', async () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    const memory = await storeOfFormat(FORMAT);
    const store = guardFormat(memory);
    await store.commit([createUser('a')]);
    const body = JSON.stringify({ name: 'north', format: FORMAT + 1 });
    await memory.commit([{ type: 'update', key: instanceKey, fields: { body } }]);
    now.mockReturnValue(60_000);
    await expect(store.commit([createUser('b')])).rejects.toMatchObject(tooNew);
  });
});
