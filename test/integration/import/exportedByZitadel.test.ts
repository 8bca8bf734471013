import { describe, expect, it } from 'vitest';
import { organisation, person } from '../../support/fixtures/organisations.ts';
import { report } from '../../support/fixtures/reports.ts';
import { countedInstance } from '../../support/instances/testInstance.ts';

const LONG = 'x'.repeat(301);
const profile = { firstName: 'F', lastName: 'L', displayName: 'F L' };

/** Imports a file, imports the export of it, and expects that it changes nothing. */
async function importTwice(...orgs: readonly object[]) {
  const { instance } = await countedInstance();
  const first = await instance.import({ data_orgs: { orgs } });
  const exported = await instance.export();
  const again = await instance.import({ data_orgs: JSON.parse(exported.bytes) });
  expect(again).toMatchObject({ summary: { created: {}, failed: {} } });
  return { ...first, orgs: exported.orgs };
}

describe('a file of a ZITADEL whose records break rules of its requests', () => {
  it('keeps a display name that ZITADEL has composed', async () => {
    const file = JSON.parse((await report('displayname-from-zitadel.json')).toString());
    const { errors, summary } = await importTwice(...file.orgs);
    expect(errors).toBeUndefined();
    expect(summary.created).toEqual({ org: 1, humanUsers: 2 });
  });

  it('keeps long and unusual values in all their records', async () => {
    const org = organisation('o', {
      humanUsers: [
        person('a', { userName: LONG, profile: { ...profile, firstName: LONG, preferredLanguage: 'ca-valencia' } }),
        person('b', { email: { email: 'a..b@x.example', isEmailVerified: true } }),
        person('c', { email: { email: 'a@x_y.example', isEmailVerified: true } }),
      ],
      machineUsers: [{ userId: LONG, user: { userName: 'm', name: 'M', description: 'd'.repeat(501) } }],
      projects: [{ projectId: 'p', project: { name: LONG } }],
      projectRoles: [{ projectId: 'p', roleKey: LONG }],
      actions: [{ actionId: 'A', action: { name: 'A', timeout: '60s' } }],
      userMetadata: [{ id: 'a', key: LONG, value: Buffer.alloc(600_000).toString('base64') }],
      orgMembers: [{ userId: LONG, roles: ['ORG_OWNER'] }],
      loginTexts: [{ language: 'en', loginText: { title: LONG } }],
    });
    const { errors, summary, orgs } = await importTwice(org);
    expect(errors).toBeUndefined();
    expect(summary.created).toMatchObject({ humanUsers: 3, machineUsers: 1, projectRoles: 1, userMetadata: 1 });
    const [exported] = orgs;
    expect(JSON.stringify(exported?.humanUsers)).toContain('"preferredLanguage":"ca-valencia"');
    expect(exported?.actions).toMatchObject([{ action: { timeout: '60s' } }]);
  });

  it.each([{}, { orgId: '' }, { orgId: 'p' }])(
    'keeps a domain policy with %j as that of its organisation',
    async (id) => {
      const { errors, summary, orgs } = await importTwice(
        organisation('o', { domainPolicy: { ...id, userLoginMustBeDomain: true } }),
      );
      expect(errors).toBeUndefined();
      expect(summary.created).toEqual({ org: 1, domainPolicy: 1 });
      expect(orgs).toMatchObject([{ domainPolicy: { orgId: 'o', userLoginMustBeDomain: true } }]);
    },
  );

  it('loses only the organisation whose id is too long, and keeps a person whose address names a host by its number', async () => {
    const literal = person('l', { email: { email: 'a@[192.0.2.1]', isEmailVerified: true } });
    const orgs = [
      organisation(LONG, { humanUsers: [person('a')] }),
      organisation('o', { humanUsers: [literal, person('b', { userName: 'b' })] }),
    ];
    const { instance } = await countedInstance();
    const { errors, summary } = await instance.import({ data_orgs: { orgs } });
    expect(errors).toMatchObject([
      {
        type: 'org',
        id: LONG,
        message: 'ID=IMPORT-tooLong Message=orgId: value length must be at most 200 characters',
      },
    ]);
    expect(summary).toMatchObject({ created: { org: 1, humanUsers: 2 }, failed: { org: 1, humanUsers: 1 } });
  });
});
