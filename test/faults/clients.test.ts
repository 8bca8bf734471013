import { type ClientRequest, request as httpRequest } from 'node:http';
import { beforeAll, expect, it } from 'vitest';
import { serve } from '../../shared/http/server.ts';
import type { Store } from '../../shared/store/store.ts';
import { type MemoryTrail, memoryTrail } from '../support/audit/memoryTrail.ts';
import { type TestInstance, testInstance } from '../support/instances/testInstance.ts';
import { repetitions } from '../support/repetitions.ts';
import { type HeldStore, heldStore } from '../support/stores/heldStore.ts';
import { describeStores, openTestStore, type StoreKind } from '../support/stores/stores.ts';
import { anyMissing } from './support/arrival.ts';
import { faultTable } from './support/faultTable.ts';
import { migration } from './support/migration.ts';
import { randomOf } from './support/random.ts';
import { survived } from './support/survived.ts';
import { expectAllIn, expectComplete, expectSound, type Undisturbed, undisturbed } from './support/undisturbed.ts';

const DISCONNECTIONS = repetitions({ few: 6, many: 30 });
/** This many clients disconnect while they send their request, the others while their import runs. */
const SHARE_OF_UNSENT = 0.4;

const file = migration(150);
let expected: Undisturbed;
beforeAll(async () => {
  expected = await undisturbed(file);
});

describeStores(faultTable['client is gone'].fault, (kind) => {
  it(faultTable['client is gone'].outcome, async (context) => {
    const random = randomOf(`disconnections (${kind.name})`);
    let { store, held, instance, trail } = await newInstance(kind);
    const events = (name: string) => trail.events.filter(({ event }) => event === name).length;
    for (let time = 0; time < DISCONNECTIONS; time++) {
      if ((await expectSound(store, expected)).size === expected.contents.size)
        ({ store, held, instance, trail } = await newInstance(kind));
      const before = await expectSound(store, expected);
      const record = random() < SHARE_OF_UNSENT ? undefined : anyMissing(expected.contents, before, random);
      const server = await serve({ app: instance.app, host: '127.0.0.1', port: 0 });
      const client = begin(server.url, instance);
      const bytes = Buffer.from(expected.body);
      if (record === undefined) await written(client, bytes.subarray(0, Math.floor(random() * bytes.length)));
      else {
        const begun = held.before(record, async () => void client.destroy());
        client.end(bytes);
        await begun;
      }
      client.destroy();
      await server.close();
      // The commits in flight when the client disconnected end with the call.
      await expect.poll(() => events('import.finished')).toBe(events('import.started'));
      const after = await expectSound(store, expected);
      if (record === undefined) expect(after).toEqual(before);
    }
    const { status, text } = await instance.attempt('import', expected.body);
    expect(status, text).toBe(200);
    expectAllIn(text, expected);
    await expectComplete(store, expected);
    survived(context, 'client is gone', kind.name, DISCONNECTIONS);
  });
});

/** An instance, its database without the instance, and the observations of its calls. */
interface Served {
  readonly store: Store;
  readonly held: HeldStore;
  readonly instance: TestInstance;
  readonly trail: MemoryTrail;
}

async function newInstance(kind: StoreKind): Promise<Served> {
  const store = await openTestStore(kind);
  const held = heldStore(store);
  const trail = memoryTrail();
  return { store, held, instance: await testInstance(store, 'test', { store: held.store, audit: trail.audit }), trail };
}

function begin(url: string, { token }: TestInstance): ClientRequest {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(expected.body),
  };
  const client = httpRequest(`${url}/admin/v1/import`, { method: 'POST', headers });
  // This test itself breaks the connection.
  client.on('error', () => undefined);
  return client;
}

function written(client: ClientRequest, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => client.write(bytes, () => resolve()));
}
