import { expect, onTestFinished, vi } from 'vitest';
import { openStore } from '../../../shared/store/openStore.ts';
import type { Store } from '../../../shared/store/store.ts';
import { emulatorMasterKey } from '../../support/emulators/emulatorDatabase.ts';
import { type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { type HeldStore, heldStore } from '../../support/stores/heldStore.ts';
import { type Answer, Witness } from '../../support/stores/witness.ts';
import { anyMissing } from './arrival.ts';
import { halfOf } from './migration.ts';
import { expectAllIn, expectComplete, expectSound, type Undisturbed } from './undisturbed.ts';

/** An import to disturb: its instance, the same database without the fault, and the state after an undisturbed import. */
export interface DisturbedImport {
  readonly instance: TestInstance;
  readonly held: HeldStore;
  readonly direct: Store;
  readonly expected: Undisturbed;
  /** The request; by default one without `timeout`. */
  readonly body?: string;
}

/** A change of the database in the middle of an import. */
interface Disturbance {
  /** Changes the database while the import is held back before one of its writes, so that it cannot have ended. */
  begin(): Promise<void>;
  /** Changes it back; runs at once while the import continues. */
  end?(answer: Promise<unknown>): Promise<void>;
}

/** Prepares an import through a store, which is `direct` unless the fault is on the way to the database. */
export async function disturbedImport(direct: Store, expected: Undisturbed, store = direct): Promise<DisturbedImport> {
  const held = heldStore(store);
  return { direct, expected, held, instance: await testInstance(direct, 'test', { store: held.store }) };
}

/** Imports, and changes the database in the middle. */
export async function importDuring(
  { instance, held, direct, expected, body = expected.body }: DisturbedImport,
  random: () => number,
  { begin, end }: Disturbance,
): Promise<Answer> {
  // Some records exist already, so that records are decided in transactions too.
  await instance.import({ data_orgs: { orgs: halfOf(expected).orgs }, with_keys: true });
  // In the middle phase, so that some records remain.
  const metadata = new Map([...expected.contents].filter(([name]) => name.startsWith('userMetadata/')));
  const record = anyMissing(metadata, await expectSound(direct, expected), random);
  if (record === undefined) throw new Error('the file has no metadata that is still missing');
  const begun = held.before(record, begin).then(() => true);
  const answer = instance.attempt('import', body);
  // A timeout may come first on a slow machine.
  if (await Promise.race([begun, answer.then(() => false)])) await end?.(answer);
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
