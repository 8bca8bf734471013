import { beforeAll, expect, it } from 'vitest';
import { issueToken, revokeTokens } from '../../shared/accounts/personalAccessTokens.ts';
import { DAY_MS } from '../../shared/clock.ts';
import { openStore } from '../../shared/store/openStore.ts';
import type { Store } from '../../shared/store/store.ts';
import { servedInstance, type TestInstance, testInstance } from '../support/instances/testInstance.ts';
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
  SQLite: repetitions({ few: 16, many: 10_000 }),
  Firestore: repetitions({ few: 5, many: 1_000 }),
};
const MAX_CALLS = 4;
const MAX_COMMITS = 40;
/** The service notices a revocation after some seconds. */
const SHARE_OF_REVOCATIONS = 0.005;

const file = migration(8);
let expected: Undisturbed;
beforeAll(async () => {
  expected = await undisturbed(file);
});

describeStores(faultTable['one commit of several'].fault, (kind) => {
  it(faultTable['one commit of several'].outcome, async (context) => {
    const random = randomOf(`interruptions (${kind.name})`);
    const longest = await measureImport(kind, random);
    let interruptions = 0;
    for (let imports = 1; interruptions < INTERRUPTIONS[kind.name]; imports++) {
      try {
        interruptions += await interruptedImport(kind, longest, random);
      } catch (cause) {
        throw new Error(`import ${imports}, after ${interruptions} interruptions`, { cause });
      }
    }
    survived(context, 'one commit of several', kind.name, interruptions);
  });
});

/** An instance with faults in its commits, and its store without faults. */
interface Interrupted {
  readonly store: Store;
  readonly instance: TestInstance;
  readonly striking: StrikingStore;
}

/** Returns the milliseconds of an undisturbed import on this machine. The first one of a process takes longer. */
async function measureImport(kind: StoreKind, random: () => number): Promise<number> {
  let duration = 0;
  for (let imports = 0; imports < 2; imports++) {
    await using direct = disposable(await openStore(await kind.newLocation()));
    const { store } = strikingStore(direct.store, random);
    const instance = await testInstance(direct.store, 'test', { store });
    const begin = performance.now();
    await instance.import(expected.body);
    duration = performance.now() - begin;
  }
  return duration;
}

/** Imports several times with faults in single commits until an interruption, then undisturbed; counts interruptions. */
async function interruptedImport(kind: StoreKind, longest: number, random: () => number): Promise<number> {
  await using direct = disposable(await openStore(await kind.newLocation()));
  const { store } = direct;
  const striking = strikingStore(store, random);
  const instance = await testInstance(store, 'test', { store: striking.store });
  const interrupted: Interrupted = { store, instance, striking };
  const witness = new Witness(expected.contents);
  let interruptions = 0;
  for (let calls = 0; calls < MAX_CALLS; calls++) {
    const answer = await interruptedCall(interrupted, longest, random);
    witness.check(answer, await expectSound(store, expected));
    if (answer.status === 200) break;
    expect([401, 499, 503, 504], answer.text).toContain(answer.status);
    interruptions++;
  }
  const { token } = await issueToken(store, instance.userId, new Date(), DAY_MS);
  const answer = await servedInstance(store, { ...instance, token }).attempt('import', expected.body);
  witness.check(answer, await expectSound(store, expected));
  expect(answer.status, answer.text).toBe(200);
  expectAllIn(answer.text, expected);
  await expectComplete(store, expected);
  return interruptions;
}

/** The interruption of a call: its timeout, or during one of its commits the client or the token. */
type Ending = 'timeout' | 'disconnection' | 'revocation';

/** Sends the import, and interrupts it; a timeout strikes after up to `longest` milliseconds. */
async function interruptedCall(
  { store, instance, striking }: Interrupted,
  longest: number,
  random: () => number,
): Promise<Answer> {
  const ending = chooseEnding(random());
  const endsAt = Math.ceil(random() * MAX_COMMITS);
  const client = new AbortController();
  const { token } = await issueToken(store, instance.userId, new Date(), DAY_MS);
  let commits = 0;
  striking.begin(() => {
    if (++commits !== endsAt || ending === 'timeout') return undefined;
    if (ending === 'disconnection') client.abort();
    else void revokeTokens(store, instance.userId);
    // Until the service has noticed the revocation, this commit is in back-off, and others go through.
    return ending === 'revocation' ? 'throttled to the end' : undefined;
  });
  const response = await instance.app.request('/admin/v1/import', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: withTimeout(expected, ending === 'timeout' ? `${Math.ceil(random() * longest)}ms` : '10m'),
    signal: client.signal,
  });
  striking.end();
  return { status: response.status, text: await response.text() };
}

function chooseEnding(chosen: number): Ending {
  if (chosen < SHARE_OF_REVOCATIONS) return 'revocation';
  return chosen < (1 + SHARE_OF_REVOCATIONS) / 2 ? 'disconnection' : 'timeout';
}

function disposable(store: Store): AsyncDisposable & { readonly store: Store } {
  return { store, [Symbol.asyncDispose]: () => store.close() };
}
