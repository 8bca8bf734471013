import { describe, expect, it } from 'vitest';
import type { ImportContext } from '../../../../functions/import/context.ts';
import { InspectedRecords } from '../../../../functions/import/plan/inspectedRecords.ts';
import type { Targets } from '../../../../functions/import/plan/targets.ts';
import { findUnchanged } from '../../../../functions/import/read/unchangedRecords.ts';
import { OrganisationDraft } from '../../../../shared/exportFile/organisationDraft.ts';
import { defaultComplexity } from '../../../../shared/organisation/passwordRules.ts';
import type { RecordPlan } from '../../../../shared/organisation/recordPlan.ts';
import { documentPath } from '../../../../shared/store/store.ts';
import { sectionNamed } from '../../../support/fixtures/sectionNamed.ts';
import { contextOf, person, plan, storeWith } from '../../../support/import/batches.ts';

const targets: Targets = new Map(
  [0].map((entry) => [
    entry,
    {
      header: new OrganisationDraft(entry).toHeader(),
      isNew: false,
      loginNamesByDomain: false,
      passwordComplexity: defaultComplexity,
      validatesDomains: false,
      primaryDomain: undefined,
    },
  ]),
);

const ada = person('U1', 'ada');
const metadata = plan('userMetadata', { id: 'U1', key: 'k', value: 'dg==' });

/** Creates the import of a file with the records into a store that contains them, and the reads of this store. */
async function again(records: readonly RecordPlan[], stored = records) {
  const inspected = new InspectedRecords(async () => true);
  for (const [index, { record }] of records.entries())
    inspected.add(record, undefined, ['orgs', 0, record.section.name, index]);
  const store = await storeWith(...stored);
  /** Finds the unchanged records of a section. Returns their number and the paths of the documents that it read. */
  const find = async (context: ImportContext, section: string) => {
    store.forget();
    const { size } = await findUnchanged(context, targets, new Set([sectionNamed(section)]));
    return { size, read: store.reads.flatMap(({ keys }) => keys.map(documentPath)) };
  };
  const begin = (): ImportContext => ({ ...contextOf(store, 'report'), inspected });
  return { store, begin, find };
}

const paths = { ada: 'users/U1', metadata: 'userMetadata/U1|k' };

describe('a record that refers to a person', () => {
  it('is unchanged without a further read of the person if an earlier phase found the person unchanged', async () => {
    const { begin, find } = await again([ada, metadata]);
    const context = begin();
    expect(await find(context, 'humanUsers')).toEqual({ size: 1, read: [paths.ada] });
    expect(await find(context, 'userMetadata')).toEqual({ size: 1, read: [paths.metadata] });
  });

  it('is compared together with the person again after the trial of a mirroring import', async () => {
    const { store, begin, find } = await again([ada, metadata]);
    const trial = begin();
    expect(await find(trial, 'humanUsers')).toMatchObject({ size: 1 });
    expect(await find(trial, 'userMetadata')).toMatchObject({ size: 1 });
    const actual = begin();
    expect(await find(actual, 'userMetadata')).toEqual({ size: 1, read: [paths.metadata, paths.ada] });
    await store.commit([{ type: 'delete', key: ada.key }]);
    expect(await find(actual, 'userMetadata')).toMatchObject({ size: 0 });
  });

  it('is not unchanged if the person is missing, or belongs to another organisation', async () => {
    const { begin, find } = await again([ada, metadata], [metadata]);
    const context = begin();
    expect(await find(context, 'humanUsers')).toMatchObject({ size: 0 });
    expect(await find(context, 'userMetadata')).toMatchObject({ size: 0, read: [paths.metadata, paths.ada] });
    const foreign = plan('humanUsers', { userId: 'U1', user: { userName: 'ada' } }, 'other');
    const abroad = await again([foreign, metadata]);
    const mixed = abroad.begin();
    expect(await abroad.find(mixed, 'humanUsers')).toMatchObject({ size: 1 });
    expect(await abroad.find(mixed, 'userMetadata')).toMatchObject({ size: 0 });
  });
});
