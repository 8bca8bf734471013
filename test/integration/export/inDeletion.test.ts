import { describe, expect, it } from 'vitest';
import { removeOrganisations } from '../../../cli/accounts/organisationRemoval.ts';
import { deleteServiceUser } from '../../../cli/accounts/serviceUsers.ts';
import type { Store } from '../../../shared/store/store.ts';
import { grantedRobot, ROBOT } from '../../support/fixtures/grantedRobot.ts';
import { goingIds, linkedOrganisations, staying } from '../../support/fixtures/linkedOrganisations.ts';
import { type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { interruptedStore } from '../../support/stores/interruptedStore.ts';
import { openTestStore } from '../../support/stores/stores.ts';

const killed = new Error('the process ended');
const never = new AbortController().signal;

/** The forms of an export without the default organisation. */
const forms = [{}, { org_ids: ['b', 'c', 'stays'] }];

/** A deletion of a record that other organisations refer to. */
interface Deletion {
  readonly subject: string;
  readonly orgs: readonly object[];
  run(store: Store): Promise<unknown>;
}

const deletions: readonly Deletion[] = [
  { subject: 'a service user', orgs: grantedRobot, run: (store) => deleteServiceUser(store, ROBOT) },
  {
    subject: 'organisations',
    orgs: [staying, ...linkedOrganisations],
    run: (store) => removeOrganisations(store, goingIds, never),
  },
];

/** An instance in which a deletion was interrupted after its commit with this number. */
async function interruptedInstance({ orgs, run }: Deletion, commit: number) {
  const store = await openTestStore();
  const instance = await testInstance(store);
  await instance.import({ data_orgs: { orgs }, with_keys: true });
  const interrupted = interruptedStore(store, { commit, when: 'after' }, () => Promise.reject(killed));
  await expect(run(interrupted)).rejects.toThrow(killed);
  return { store, instance };
}

async function expectImportable({ orgs, manifest }: Awaited<ReturnType<TestInstance['export']>>) {
  const target = await testInstance(await openTestStore(), 'target');
  const { errors, summary } = await target.import({ data_orgs: { orgs, manifest }, with_keys: true });
  expect(errors).toBeUndefined();
  expect(summary).toMatchObject({ proved: true, failed: {}, notCarried: {} });
}

describe('an export after an interrupted deletion', () => {
  for (const deletion of deletions) {
    it.each(forms)(`of ${deletion.subject} is imported without errors into an empty instance (%j)`, async (form) => {
      const { instance } = await interruptedInstance(deletion, 0);
      const file = await instance.export(form);
      await expectImportable(file);
    });

    it(`of ${deletion.subject} equals an export after the completed deletion, whichever step was interrupted`, async () => {
      for (const commit of [0, 1, 2]) {
        const { store, instance } = await interruptedInstance(deletion, commit);
        const during = await instance.export();
        await deletion.run(store);
        const after = await instance.export();
        expect([during.orgs, during.manifest.counts, during.manifest.digest]).toEqual([
          after.orgs,
          after.manifest.counts,
          after.manifest.digest,
        ]);
      }
    });
  }
});
