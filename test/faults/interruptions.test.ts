import { beforeAll, expect, it } from 'vitest';
import { openStore } from '../../shared/store/openStore.ts';
import type { Store } from '../../shared/store/store.ts';
import { type TestInstance, testInstance } from '../support/instances/testInstance.ts';
import { repetitions } from '../support/repetitions.ts';
import { describeStores, type StoreKind } from '../support/stores/stores.ts';
import { type Answer, Witness } from '../support/stores/witness.ts';
import { withTimeout } from './support/disturbedImport.ts';
import { faultTable } from './support/faultTable.ts';
import { migration } from './support/migration.ts';
import { randomOf } from './support/random.ts';
import { type StrikingStore, strikingStore } from './support/strikingStore.ts';
import { survived } from './support/survived.ts';
import { expectAllIn, expectComplete, expectSound, type Undisturbed, undisturbed } from './support/undisturbed.ts';

const INTERRUPTIONS = {
  SQLite: repetitions({ few: 200, many: 10_000 }),
  Firestore: repetitions({ few: 40, many: 1_000 }),
};
const MAX_CALLS = 4;
/** About as long as an undisturbed import takes. */
const LONGEST_MILLISECONDS = { SQLite: 150, Firestore: 600 };
const MAX_COMMITS = 40;

const file = migration(12);
let expected: Undisturbed;
beforeAll(async () => {
  expected = await undisturbed(file);
});

describeStores(faultTable['one commit of several'].fault, (kind) => {
  it(faultTable['one commit of several'].outcome, async (context) => {
    const random = randomOf(`interruptions (${kind.name})`);
    let interruptions = 0;
    for (let imports = 1; interruptions < INTERRUPTIONS[kind.name]; imports++) {
      try {
        interruptions += await interruptedImport(kind, random);
      } catch (cause) {
        throw new Error(`import ${imports}, after ${interruptions} interruptions`, { cause });
      }
    }
    survived(context, 'one commit of several', kind.name, interruptions);
  });
});

/** Imports with single commits struck until the call is interrupted, some times, then undisturbed; counts the interruptions. */
async function interruptedImport(kind: StoreKind, random: () => number): Promise<number> {
  await using direct = disposable(await openStore(await kind.newLocation()));
  const { store } = direct;
  const striking = strikingStore(store, random);
  const instance = await testInstance(store, 'test', { store: striking.store });
  const witness = new Witness(expected.contents);
  let interruptions = 0;
  for (let calls = 0; calls < MAX_CALLS; calls++) {
    const answer = await interruptedCall(instance, striking, LONGEST_MILLISECONDS[kind.name], random);
    witness.check(answer, await expectSound(store, expected));
    if (answer.status === 200) break;
    expect([499, 503, 504], answer.text).toContain(answer.status);
    interruptions++;
  }
  const answer = await instance.attempt('import', expected.body);
  witness.check(answer, await expectSound(store, expected));
  expect(answer.status, answer.text).toBe(200);
  expectAllIn(answer.text, expected);
  await expectComplete(store, expected);
  return interruptions;
}

/** Sends the import, which its timeout or a disconnection at one of its commits interrupts. */
async function interruptedCall(
  { app, token }: TestInstance,
  striking: StrikingStore,
  longest: number,
  random: () => number,
): Promise<Answer> {
  const client = new AbortController();
  const leavesAt = random() < 0.5 ? Math.ceil(random() * MAX_COMMITS) : Number.POSITIVE_INFINITY;
  const timeout = Number.isFinite(leavesAt) ? '10m' : `${Math.ceil(random() * longest)}ms`;
  let commits = 0;
  striking.begin(() => {
    if (++commits === leavesAt) client.abort();
  });
  const response = await app.request('/admin/v1/import', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: withTimeout(expected, timeout),
    signal: client.signal,
  });
  striking.end();
  return { status: response.status, text: await response.text() };
}

function disposable(store: Store): AsyncDisposable & { readonly store: Store } {
  return { store, [Symbol.asyncDispose]: () => store.close() };
}
