import { expect, it } from 'vitest';
import { FileFacts } from '../../../../cli/exports/inspectPlace.ts';
import { readRecord } from '../../../../shared/organisation/record.ts';
import { credentialFields } from '../../../../shared/store/documentFields.ts';
import { person } from '../../../support/fixtures/organisations.ts';
import { sectionNamed } from '../../../support/fixtures/sectionNamed.ts';

it.each(credentialFields)('the facts of a file count each record that has the credential %s', (field) => {
  const facts = new FileFacts();
  const record = readRecord(sectionNamed('humanUsers'), person('ada'), 'acme');
  for (const credentials of [{}, { [field]: 'secret' }]) facts.add({ ...record, credentials });
  expect(Object.values(facts.secrets)).toEqual([1]);
});
