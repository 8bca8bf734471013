import { describe, expect, it } from 'vitest';
import { proveExport } from '../../../shared/exportFile/inspection.ts';
import { zitadelRequest } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

async function proved(text: string): Promise<string> {
  const source = {
    async *open() {
      yield Buffer.from(text);
    },
  };
  const chunks = await Array.fromAsync(proveExport(source, new AbortController().signal));
  return Buffer.concat(chunks).toString();
}

describe('an export of every section', () => {
  it.each([
    ['as this service imports it', {}],
    ['as a ZITADEL imports it', { for_zitadel: true }],
    ['without secrets', { with_passwords: false, with_otp: false, with_keys: false }],
  ])('is proved by its manifest while its bytes pass: %s', async (_case, form) => {
    const instance = await testInstance(await openTestStore(sqlite));
    for (const name of ['import-request', 'import-of-our-export-request'] as const)
      await instance.import({ data_orgs: { orgs: zitadelRequest(name) }, with_keys: true });
    const { bytes, orgs } = await instance.export(form);
    const entries = orgs.map(({ orgId }) => orgId);
    expect(new Set(entries).size < entries.length).toBe('for_zitadel' in form);
    expect(await proved(bytes)).toBe(bytes);
  });
});
