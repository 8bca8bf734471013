import { describe, expect, it } from 'vitest';
import { organisation, unproved } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const domain = (domainName: string, ...flags: ('isVerified' | 'isPrimary')[]) => ({
  orgId: 'O',
  domainName,
  ...Object.fromEntries(flags.map((flag) => [flag, true])),
});
const validating = { domainPolicy: { orgId: 'O', validateOrgDomains: true } };
const file = (fields: object) => ({ data_orgs: { orgs: [organisation('O', fields)] } });
const rejected = {
  type: 'domain_isprimary',
  id: 'O_new.example',
  message: 'ID=ORG-Ggd32 Message=Errors.Org.DomainNotVerified',
};

describe('an unverified primary domain', () => {
  const newInstance = async () => testInstance(await openTestStore(sqlite));

  it('is imported, but not as primary, if the organisation validates its domains', async () => {
    const instance = await newInstance();
    const request = file({ ...validating, domains: [domain('new.example', 'isPrimary')] });
    const { errors, summary, success } = await instance.import(request);
    expect(errors).toEqual([rejected]);
    expect(summary).toMatchObject({ created: { domains: 1 }, failed: {}, warnings: [unproved] });
    expect(success.orgs).toEqual([{ orgId: 'O', domains: ['new.example'] }]);
    expect((await instance.export()).orgs).toMatchObject([{ domains: [domain('new.example')] }]);
    const again = await instance.import(request);
    expect(again).toMatchObject({ errors: [rejected], summary: { unchanged: { domains: 1 } } });
  });

  it('is judged by the stored policy if the file has none', async () => {
    const instance = await newInstance();
    await instance.import(file(validating));
    const { errors } = await instance.import(file({ domains: [domain('new.example', 'isPrimary')] }));
    expect(errors).toEqual([rejected]);
  });

  it('stays primary elsewhere', async () => {
    const instance = await newInstance();
    const domains = [domain('new.example', 'isPrimary')];
    expect((await instance.import(file({ domains }))).errors).toBeUndefined();
    expect((await instance.export()).orgs).toMatchObject([{ domains }]);
  });

  it.each([
    ['after', 0],
    ['before', 1],
  ])('leaves a verified domain primary that comes %s it', async (_where, position) => {
    const instance = await newInstance();
    const verified = domain('old.example', 'isVerified', 'isPrimary');
    const domains = [verified];
    domains.splice(position, 0, domain('new.example', 'isPrimary'));
    const { errors } = await instance.import(file({ ...validating, domains }));
    expect(errors).toEqual([rejected]);
    const { orgs } = await instance.export();
    expect(orgs).toMatchObject([{ domains: [domain('new.example'), verified] }]);
  });
});
