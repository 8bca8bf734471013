import { describe, expect, it } from 'vitest';
import { changed } from '../../support/fixtures/changedOrganisation.ts';
import { comparable } from '../../support/fixtures/comparable.ts';
import { zitadelExport } from '../../support/fixtures/organisations.ts';
import { countedInstance } from '../../support/instances/testInstance.ts';

const full = zitadelExport('export-full');
const skipping = (...orgs: object[]) => ({ dataOrgs: { orgs }, with_keys: true, on_conflict: 'skip' });
const overwriting = (...orgs: object[]) => ({ dataOrgs: { orgs }, with_keys: true, on_conflict: 'overwrite' });
const reporting = (...orgs: object[]) => ({ dataOrgs: { orgs }, with_keys: true });

describe('on_conflict "skip"', () => {
  it('leaves existing records of every section unchanged if they differ, and counts them', async () => {
    const { instance, writesOf } = await countedInstance();
    await instance.import(reporting(...full));
    const before = await instance.export();
    const { result, writes } = await writesOf(() => instance.import(skipping(...full.map(changed))));
    const { orgs: _total, ...counts } = before.manifest.counts;
    expect({ writes, errors: result.errors, skipped: result.summary.skipped }).toEqual({
      writes: 0,
      errors: undefined,
      skipped: counts,
    });
    expect((await instance.export()).manifest.digest).toBe(before.manifest.digest);
  });
});

describe('on_conflict "overwrite"', () => {
  it('updates records of every section to the content of the document, and writes nothing the second time', async () => {
    const { instance, writesOf } = await countedInstance();
    await instance.import(reporting(...full));
    const alone = await countedInstance();
    await alone.instance.import(reporting(...full.map(changed)));
    const wanted = await alone.instance.export();
    const { errors, summary } = await instance.import(overwriting(...full.map(changed)));
    const { orgs: _total, ...counts } = wanted.manifest.counts;
    expect({ errors, overwritten: summary.overwritten, failed: summary.failed }).toEqual({
      errors: undefined,
      overwritten: counts,
      failed: {},
    });
    expect(comparable((await instance.export()).orgs)).toEqual(comparable(wanted.orgs));
    const again = await writesOf(() => instance.import(overwriting(...full.map(changed))));
    expect({ writes: again.writes, unchanged: again.result.summary.unchanged }).toEqual({
      writes: 0,
      unchanged: counts,
    });
  });
});
