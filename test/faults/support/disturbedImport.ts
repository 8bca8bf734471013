import { expect, onTestFinished, vi } from 'vitest';
import { openStore } from '../../../shared/store/openStore.ts';
import type { Store } from '../../../shared/store/store.ts';
import { emulatorMasterKey } from '../../support/emulators/emulatorDatabase.ts';
import type { TestInstance } from '../../support/instances/testInstance.ts';
import { type Answer, Witness } from '../../support/stores/witness.ts';
import { anyMissing, arrival } from './arrival.ts';
import { halfOf } from './migration.ts';
import { expectAllIn, expectComplete, expectSound, type Undisturbed } from './undisturbed.ts';

/** An import to disturb: its instance, the same database without the fault, and the state after an undisturbed import. */
export interface DisturbedImport {
  readonly instance: TestInstance;
  readonly direct: Store;
  readonly expected: Undisturbed;
  /** The request; by default one without `timeout`. */
  readonly body?: string;
}

/** Imports, and changes the database in the middle. */
export async function importDuring(
  { instance, direct, expected, body = expected.body }: DisturbedImport,
  random: () => number,
  happens: (answer: Promise<unknown>) => Promise<void>,
): Promise<Answer> {
  // Some records exist already, so that records are decided in transactions too.
  await instance.import({ data_orgs: { orgs: halfOf(expected).orgs }, with_keys: true });
  // In the middle phase, so that some records remain when it has arrived.
  const metadata = new Map([...expected.contents].filter(([name]) => name.startsWith('userMetadata/')));
  const record = anyMissing(metadata, await expectSound(direct, expected), random);
  const over = new AbortController();
  const answer = instance.attempt('import', body).finally(() => over.abort());
  if (record !== undefined) await arrival(direct, record, over.signal);
  await happens(answer);
  return answer;
}

/** The file's import with a `timeout`, as a request. */
export function withTimeout({ body }: Undisturbed, timeout: string): string {
  return body.replace(/^\{/, `{"timeout":"${timeout}",`);
}

/** Expects an import without errors after which every record exists. */
export async function expectAnswered(answer: Answer, store: Store, expected: Undisturbed): Promise<void> {
  expect(answer.status, answer.text).toBe(200);
  expectAllIn(answer.text, expected);
  await expectComplete(store, expected);
}

/** Expects an import that reaches its timeout, and that the same request completes. */
export async function expectResumable(answer: Answer, disturbed: DisturbedImport): Promise<void> {
  const { instance, direct, expected } = disturbed;
  expect(answer.status, answer.text).toBe(504);
  expect(answer.text).toContain('"resumable":true');
  const witness = new Witness(expected.contents);
  witness.check(answer, await expectSound(direct, expected));
  const resumed = await instance.attempt('import', expected.body);
  witness.check(resumed, await expectSound(direct, expected));
  await expectAnswered(resumed, direct, expected);
}

/** Opens a store whose emulator is at `address`; it is closed when the test has finished. */
export async function storeAt(address: string, projectId: string): Promise<Store> {
  vi.stubEnv('FIRESTORE_EMULATOR_HOST', address);
  try {
    const store = await openStore({
      kind: 'firestore',
      projectId,
      databaseId: '(default)',
      masterKey: emulatorMasterKey,
    });
    onTestFinished(() => store.close());
    return store;
  } finally {
    vi.unstubAllEnvs();
  }
}
