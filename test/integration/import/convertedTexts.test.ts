import { describe, expect, it } from 'vitest';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { countedInstance } from '../../support/instances/testInstance.ts';

async function warningsOf(sections: object) {
  const { instance } = await countedInstance();
  const { summary } = await instance.import({ data_orgs: { orgs: [organisation('O', sections)] } });
  return summary.warnings.filter(({ reason }) => reason === 'value_converted').map(({ message }) => message);
}

const withLanguage = (preferredLanguage: string) =>
  person('U', { profile: { firstName: 'F', lastName: 'L', displayName: 'F L', preferredLanguage } });

describe('an import warns of a text that it converts to another one', () => {
  it.each([
    [{ humanUsers: [person('U', { userName: ' ada ' })] }, 'user.userName is imported as "ada" instead of " ada "'],
    [{ humanUsers: [withLanguage('iw')] }, 'user.profile.preferredLanguage is imported as "he" instead of "iw"'],
    [{ domains: [{ domainName: ' a.example' }] }, 'domainName is imported as "a.example" instead of " a.example"'],
    [{ org: { name: 'Name ' } }, 'org.name is imported as "Name" instead of "Name "'],
  ])('%j', async (sections, text) => {
    expect(await warningsOf(sections)).toEqual([`${text}: check it`]);
  });

  it('but not of another case or separator', async () => {
    expect(await warningsOf({ humanUsers: [withLanguage('DE_ch')] })).toEqual([]);
  });
});
