import { expect, it } from 'vitest';
import { recordsIn } from '../../../cli/zitadel/export/exportOrganisation.ts';
import { textAt } from '../../../shared/json/jsonObject.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { servedInstance, type TestInstance, testInstance } from '../../support/instances/testInstance.ts';
import { readDatabase } from '../../support/stores/database.ts';
import { violationsOf } from '../../support/stores/invariants.ts';
import { describeStores, openTestStore } from '../../support/stores/stores.ts';
import { hookedStore } from '../../support/stores/watchedStore.ts';

const primary = (domainName: string, more: object = {}) => ({
  data_orgs: { orgs: [organisation('O', { domains: [{ domainName, isVerified: true, isPrimary: true }] })] },
  ...more,
});

/** Returns the exported domains of the only organisation, by name. */
async function domainsOf(instance: TestInstance) {
  const [exported] = (await instance.export()).orgs;
  return recordsIn(exported?.domains).toSorted((a, b) =>
    textAt(a, 'domainName', '') < textAt(b, 'domainName', '') ? -1 : 1,
  );
}

describeStores('an import', (kind) => {
  it.each(['report', 'skip'])(
    'adds no second primary domain at the moment of another import (on_conflict %s)',
    async (onConflict) => {
      const store = await openTestStore(kind);
      const instance = await testInstance(store);
      await instance.import({ data_orgs: { orgs: [organisation('O')] } });
      let other: Promise<unknown> | undefined;
      const during = hookedStore(store, async (writes) => {
        if (other !== undefined || !writes.some(({ key }) => key.collection === 'domains')) return;
        other = instance.import(primary('first.example'));
        await other;
      });
      const second = primary('second.example', { on_conflict: onConflict });
      const { errors, summary } = await servedInstance(during, instance).import(second);
      await other;
      expect(errors).toBeUndefined();
      expect(summary).toMatchObject({ created: { domains: 1 }, failed: {} });
      const message = 'first.example is already the primary domain: this domain is imported without isPrimary';
      const warning = { type: 'domain', id: 'O_second.example', reason: 'primary_exists', message };
      expect(summary.warnings).toContainEqual(warning);
      const isVerified = true;
      expect(await domainsOf(instance)).toEqual([
        { orgId: 'O', domainName: 'first.example', isVerified, isPrimary: true },
        { orgId: 'O', domainName: 'second.example', isVerified },
      ]);
      expect(violationsOf(await readDatabase(store))).toEqual([]);
      const repeated = await instance.import(second);
      expect(repeated.summary).toMatchObject({ created: {}, failed: {} });
      expect(repeated.summary.warnings).toContainEqual(warning);
    },
  );
});
