import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createApp } from '../../../shared/http/app.ts';
import { healthRoutes } from '../../../shared/http/health.ts';
import { configureLog } from '../../../shared/log.ts';
import { FORMAT, instanceKey } from '../../../shared/store/instance.ts';
import { decorateStore, type Store } from '../../../shared/store/store.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

beforeEach(() => configureLog('silent'));

const get = async (store: Store, path: string) => {
  const response = await createApp({ routes: healthRoutes(store) }).request(path);
  return { status: response.status, body: await response.json() };
};

const healthy = { status: 200, body: { status: 'ok' } };
const ready = { status: 200, body: { status: 'ready' } };

/** A database that never responds to a read. */
async function silentStore(): Promise<Store> {
  const store = await openTestStore(sqlite);
  return decorateStore(store, () => ({ getMany: () => new Promise(() => {}) }));
}

describe('probes', () => {
  it.each(['/health', '/healthz'])('get a response without a token: %s', async (path) => {
    expect(await get(await openTestStore(), path)).toEqual(healthy);
  });

  it.each(['/ready', '/readyz'])('get a response without a token, before and after identity init: %s', async (path) => {
    const store = await openTestStore();
    expect(await get(store, path)).toEqual(ready);
    await testInstance(store);
    expect(await get(store, path)).toEqual(ready);
  });

  it.each([FORMAT + 1, FORMAT - 1])('of readiness get 503 on a database of format %s', async (format) => {
    const store = await openTestStore();
    await testInstance(store);
    await setFormat(store, format);
    expect(await get(store, '/readyz')).toMatchObject({ status: 503, body: { code: 14 } });
    expect(await get(store, '/healthz')).toEqual(healthy);
  });
});

async function setFormat(store: Store, format: number): Promise<void> {
  const [instance] = await store.getMany([instanceKey], ['body']);
  const body = JSON.stringify({ ...JSON.parse(instance?.body ?? '{}'), format });
  await store.commit([{ type: 'update', key: instanceKey, fields: { body } }]);
}

describe('the readiness probe', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  it('fails with 503 after two seconds without a response of the database, while the process counts as alive', async () => {
    const store = await silentStore();
    const answer = get(store, '/readyz');
    expect(await get(store, '/healthz')).toEqual(healthy);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await answer).toMatchObject({ status: 503, body: { code: 14 } });
  });

  it('reads once a second, however often it is called', async () => {
    const store = await openTestStore(sqlite);
    let reads = 0;
    const counted = decorateStore(store, (inner) => ({
      getMany: (...args) => {
        reads++;
        return inner.getMany(...args);
      },
    }));
    const app = createApp({ routes: healthRoutes(counted) });
    const ask = () => Promise.all(Array.from({ length: 50 }, () => app.request('/readyz')));
    await ask();
    await vi.advanceTimersByTimeAsync(999);
    await ask();
    expect(reads).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    await ask();
    expect(reads).toBe(2);
  });
});
