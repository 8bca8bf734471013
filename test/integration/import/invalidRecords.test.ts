import { describe, expect, it } from 'vitest';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

async function newInstance() {
  const store = await openTestStore(sqlite);
  return { store, instance: await testInstance(store) };
}

interface Fields extends Readonly<Record<string, unknown>> {
  readonly humanUsers?: readonly unknown[];
}

function fileOf({ humanUsers = [], ...fields }: Fields) {
  const org = organisation('O', { humanUsers: [...humanUsers, person('B')], ...fields });
  return { orgs: [org, organisation('Q', { humanUsers: [person('C')] })] };
}

describe('an invalid record', () => {
  it('does not govern other records, if it is a policy', async () => {
    const { instance } = await newInstance();
    const clear = { userId: 'A', user: { ...person('A').user, password: 'Password1!' } };
    const passwordComplexityPolicy = { minLength: '50', hasSymbol: 'yes' };
    const org = organisation('O', { humanUsers: [clear], passwordComplexityPolicy });
    const { errors, summary } = await instance.import({ data_orgs: { orgs: [org] } });
    expect(errors?.map(({ type }) => type)).toEqual(['password_complexity_policy']);
    expect(summary.created).toMatchObject({ humanUsers: 1 });
  });

  it('fails a new organisation if it is the domain policy, without which names of users would settle their scope', async () => {
    const { instance } = await newInstance();
    const imported = (validateOrgDomains: unknown, orgId = 'O') => {
      const domainPolicy = { orgId, userLoginMustBeDomain: true, validateOrgDomains };
      const orgs = [organisation(orgId, { domainPolicy, humanUsers: [person('A')] })];
      return instance.import({ data_orgs: { orgs } });
    };
    const { errors, summary } = await imported('x');
    expect(errors).toMatchObject([
      { type: 'org', id: 'O', message: 'orgs[0].domainPolicy.validateOrgDomains: expected true or false' },
    ]);
    expect(summary).toMatchObject({ created: {}, failed: { org: 1, domainPolicy: 1, humanUsers: 1 } });
    expect((await imported(true)).summary).toMatchObject({
      created: { org: 1, domainPolicy: 1, humanUsers: 1 },
      failed: {},
    });
    // The stored policy governs the users of an existing organisation.
    expect((await imported('x')).summary).toMatchObject({
      unchanged: { org: 1, humanUsers: 1 },
      failed: { domainPolicy: 1 },
    });
  });

  it('is left out if its organisation is not selected', async () => {
    const { instance } = await newInstance();
    const { errors, summary } = await instance.import({ data_orgs: fileOf({ humanUsers: [null] }), org_ids: ['Q'] });
    expect(errors).toBeUndefined();
    expect(summary).toMatchObject({ failed: {}, notCarried: { org: 1, humanUsers: 2 } });
  });

  it('contradicts the manifest of the file from before it was edited', async () => {
    const { instance } = await newInstance();
    await instance.import({ data_orgs: fileOf({}) });
    const { orgs, manifest } = await instance.export();
    const edited = orgs.map((org) => ({ ...org, humanUsers: [{ userId: 'B', user: 5 }] }));
    const { status, body } = await instance.refusedImport({ data_orgs: { orgs: edited, manifest } });
    expect(status).toBe(400);
    expect(body.message).toMatch(/manifest/);
  });
});
