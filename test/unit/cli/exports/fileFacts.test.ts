import { expect, it } from 'vitest';
import { FileSecrets } from '../../../../cli/exports/fileFacts.ts';
import { readRecord } from '../../../../shared/organisation/record.ts';
import { credentialFields } from '../../../../shared/store/documentFields.ts';
import { person } from '../../../support/fixtures/organisations.ts';
import { sectionNamed } from '../../../support/fixtures/sectionNamed.ts';

it.each(credentialFields)('the secrets of a file include each record that has the credential %s', (field) => {
  const secrets = new FileSecrets();
  const record = readRecord(sectionNamed('humanUsers'), person('ada'), 'acme');
  for (const credentials of [{}, { [field]: 'secret' }]) secrets.add({ ...record, credentials });
  expect(Object.values(secrets.counts)).toEqual([1]);
});
