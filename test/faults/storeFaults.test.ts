import { beforeAll, expect, it } from 'vitest';
import type { Store } from '../../shared/store/store.ts';
import { type Exported, type TestInstance, testInstance } from '../support/instances/testInstance.ts';
import { repetitions } from '../support/repetitions.ts';
import { describeStores, openTestStore } from '../support/stores/stores.ts';
import { Witness } from '../support/stores/witness.ts';
import { type FaultName, faultTable } from './support/faultTable.ts';
import { type FaultyStore, faultyStore, type StoreOperation } from './support/faultyStore.ts';
import type { FaultKind } from './support/injection.ts';
import { halfOf, migration } from './support/migration.ts';
import { survived } from './support/survived.ts';
import { expectAllIn, expectComplete, expectSound, type Undisturbed, undisturbed } from './support/undisturbed.ts';

/** A few hundred records, so that each phase has several batches. */
const file = migration(repetitions({ few: 70, many: 150 }));
/** The exported records of the file. */
const org_ids = ['north', 'south'];
/** A fault ends after this many calls. */
const FAULTY_CALLS = repetitions({ few: 4, many: 6 });
const FAULTY_EXPORTS = 4;
/** The intervals between failing calls; the emulator is slow, so it gets fewer of them. */
const everies = repetitions({
  few: { SQLite: [2], Firestore: [2] },
  many: { SQLite: [1, 2, 3, 5, 8], Firestore: [1, 2, 3] },
});
type Case = readonly [name: FaultName, operation: StoreOperation, kind: FaultKind];

const imports: readonly Case[] = [
  ['commit conflicts', 'commit', 'conflicts'],
  ['transaction fails', 'transaction', 'fails'],
  ['transaction is delayed', 'transaction', 'is delayed'],
  ['transaction is lost', 'transaction', 'is lost'],
  ['getMany fails', 'getMany', 'fails'],
  ['getMany is delayed', 'getMany', 'is delayed'],
];
const exports: readonly Case[] = [
  ['snapshot fails', 'snapshot', 'fails'],
  ['snapshot is delayed', 'snapshot', 'is delayed'],
  ['scan fails', 'scan', 'fails'],
  ['scan is delayed', 'scan', 'is delayed'],
];
const isPassing = (kind: FaultKind) => kind === 'is delayed' || kind === 'conflicts';

describeStores('an import', (kind) => {
  let expected: Undisturbed;
  beforeAll(async () => {
    expected = await undisturbed(file);
  });

  for (const [name, operation, how] of imports) {
    it(`during which ${faultTable[name].fault}: ${faultTable[name].outcome}`, async (context) => {
      let times = 0;
      for (const every of everies[kind.name]) {
        const store = await openTestStore(kind);
        const faulty = faultyStore(store, { operation, kind: how, every });
        const instance = await testInstance(store, 'test', { store: faulty.store });
        // Some records exist, so that batches are decided record by record too.
        if (operation === 'transaction') await instance.import(JSON.stringify(halfRequest));
        const calls = await sendUntilDone(instance, faulty, store);
        if (isPassing(how)) expect(calls).toBe(1);
        await expectComplete(store, expected);
        times += faulty.injection.struck;
      }
      survived(context, name, kind.name, times);
    });
  }

  const halfRequest = { data_orgs: { orgs: halfOf(file).orgs }, with_keys: true };

  /** Sends the file until it is imported, with a fault that ends after some calls; returns the number of requests. */
  async function sendUntilDone(instance: TestInstance, { injection }: FaultyStore, direct: Store): Promise<number> {
    const witness = new Witness(expected.contents);
    injection.begin();
    for (let calls = 1; ; calls++) {
      if (calls > FAULTY_CALLS) injection.end();
      const { status, text } = await instance.attempt('import', expected.body);
      witness.check({ status, text }, await expectSound(direct, expected));
      if (calls > FAULTY_CALLS || status === 200) {
        expect(status, text).toBe(200);
        expectAllIn(text, expected);
        return calls;
      }
      expect(status, text).toBe(503);
    }
  }
});

describeStores('an export', (kind) => {
  for (const [name, operation, how] of exports) {
    it(`during which ${faultTable[name].fault}: ${faultTable[name].outcome}`, async (context) => {
      let times = 0;
      for (const every of everies[kind.name]) {
        const store = await openTestStore(kind);
        const faulty = faultyStore(store, { operation, kind: how, every });
        const instance = await testInstance(store, 'test', { store: faulty.store });
        await instance.import({ data_orgs: { orgs: file.orgs } });
        const { manifest } = await instance.export({ org_ids });
        const answers = await exportRepeatedly(instance, faulty);
        for (const answer of answers) expect([manifest.digest, 'no file']).toContain(answer);
        if (how === 'is delayed') expect(answers).not.toContain('no file');
        expect((await instance.export({ org_ids })).manifest).toMatchObject(withoutTime(manifest));
        times += faulty.injection.struck;
      }
      survived(context, name, kind.name, times);
    });
  }

  /** The outcomes of exports under a fault: the digest of a complete file, or none. */
  async function exportRepeatedly(instance: TestInstance, { injection }: FaultyStore): Promise<string[]> {
    const answers: string[] = [];
    injection.begin();
    while (answers.length < FAULTY_EXPORTS) {
      const exporting = instance.export({ org_ids });
      answers.push(
        await exporting.then(
          ({ manifest }) => manifest.digest,
          () => 'no file',
        ),
      );
    }
    injection.end();
    return answers;
  }
});

function withoutTime({ counts, digest }: Exported['manifest']): object {
  return { counts, digest };
}
