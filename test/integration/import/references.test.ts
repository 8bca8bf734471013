import { describe, expect, it } from 'vitest';
import { type Organisation, organisation, person, unproved } from '../../support/fixtures/organisations.ts';
import { testInstance } from '../../support/instances/testInstance.ts';
import { openTestStore, sqlite } from '../../support/stores/stores.ts';

const request = (...orgs: Organisation[]) => ({ dataOrgs: { orgs }, with_keys: true });
const project = (projectId: string) => ({ projectId, project: { name: projectId } });
const role = (projectId: string, roleKey: string) => ({ projectId, roleKey, displayName: roleKey });
const grant = (grantId: string, projectId: string, grantedOrgId: string, ...roleKeys: string[]) => ({
  grantId,
  projectGrant: { projectId, grantedOrgId, roleKeys },
});
const provider = (idpId: string) => ({
  idpId,
  idp: { name: idpId, jwtEndpoint: 'e', issuer: 'i', keysEndpoint: 'k', headerName: 'h' },
});
const ofOrganisation = (idpId: string) => ({ idpId, ownerType: 'IDP_OWNER_TYPE_ORG' });

const base = { humanUsers: [person('U')], jwtIdps: [provider('idp')] };

describe('references through lists', () => {
  it('to unknown identity providers are kept, with a warning until the target has them', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const link = { userId: 'U', idpId: 'GitHub', providedUserId: 'u', providedUserName: 'u@github' };
    const loginPolicy = { idps: [ofOrganisation('idp'), ofOrganisation('LDAP')] };
    const org = organisation('O', { ...base, loginPolicy, userLinks: [{ ...link, idpName: 'GitHub', idpType: 7 }] });
    const { errors, summary } = await instance.import(request(org));
    expect({ errors, failed: summary.failed }).toEqual({ errors: undefined, failed: {} });
    const kept = { errors: undefined, created: {}, failed: {} };
    expect(summary.warnings).toEqual([
      unproved,
      expect.objectContaining({ reason: 'states_unknown' }),
      {
        type: 'login_policy',
        id: 'O',
        reason: 'provider_missing',
        message: 'users cannot log in with an identity provider until the target has it: LDAP',
      },
      {
        type: 'user_link',
        id: 'U_GitHub',
        reason: 'linked_provider_missing',
        message: 'the link works once the target has its identity provider: GitHub',
      },
    ]);
    expect((await instance.export()).orgs[0]).toMatchObject({ loginPolicy, userLinks: org.userLinks });

    const again = await instance.import(request(org));
    expect({ ...again.summary, errors: again.errors }).toMatchObject({ ...kept, warnings: summary.warnings });
    await instance.import(request({ orgId: 'O', jwtIdps: [provider('GitHub'), provider('LDAP')] }));
    const { warnings } = (await instance.import(request(org))).summary;
    expect(warnings.map(({ reason }) => reason)).toEqual([unproved.reason, 'states_unknown']);
  });

  it('that are missing or foreign are parameters of the errors', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const granting = organisation('granting', {
      projects: [project('P')],
      projectGrants: [grant('G', 'P', 'granted', 'gone')],
    });
    const granted = organisation('granted', {
      humanUsers: [person('U')],
      userGrants: [
        { userId: 'U', projectId: 'P', projectGrantId: 'G', roleKeys: ['reader'] },
        { userId: 'nobody', projectId: 'P', roleKeys: ['reader'] },
      ],
      projectRoles: [role('P', 'mine')],
      userLinks: [{ idpId: 'idp', providedUserId: 'u' }],
    });
    const { reasons } = await instance.import(request(granting, granted));
    const missing = (type: string, id: string, params: object) => ({ type, id, reason: 'reference_missing', params });
    const foreign = { field: 'projectId', id: 'P', organisation: 'granting' };
    expect(reasons).toHaveLength(5);
    expect(reasons).toEqual(
      expect.arrayContaining([
        missing('project_grant', 'granting_P_granted', {
          target: 'a project role',
          field: 'projectGrant.roleKeys',
          id: 'gone',
        }),
        missing('user_grant', 'granted_P_U', {
          target: 'a project or project grant',
          field: 'projectGrantId',
          id: 'G',
        }),
        missing('user_grant', 'granted_P_nobody', { target: 'a user', field: 'userId', id: 'nobody' }),
        { type: 'project_role', id: 'P_mine', reason: 'reference_foreign', params: foreign },
        { type: 'user_link', id: '_idp', reason: 'value_missing', params: { field: 'userId' } },
      ]),
    );
  });

  it('to identity providers of the instance are kept in the login policy with a warning, because they are not carried', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const loginPolicy = { idps: [{ idpId: 'global', ownerType: 'IDP_OWNER_TYPE_SYSTEM' }] };
    const { errors, summary } = await instance.import(request(organisation('O', { loginPolicy })));
    expect(errors).toBeUndefined();
    expect(summary.warnings).toEqual([
      unproved,
      { type: 'login_policy', id: 'O', reason: 'providers_not_exported', message: expect.stringContaining('global') },
    ]);
    expect((await instance.export()).orgs[0]).toMatchObject({ loginPolicy });
  });
});

describe('a value that ZITADEL would accept', () => {
  it('is a phone number in another notation, which is normalised the same each time', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const org = organisation('O', { humanUsers: [person('U', { phone: { phone: '+41 (0)79 123-45-67' } })] });
    await instance.import(request(org));
    const exported = await instance.export();
    expect(exported.orgs[0]).toMatchObject({ humanUsers: [{ user: { phone: { phone: '+41791234567' } } }] });
    for (const body of [request(org), `{"data_orgsv1":${exported.bytes}}`]) {
      const { errors, summary } = await instance.import(body);
      expect({ errors, unchanged: summary.unchanged.humanUsers }).toEqual({ errors: undefined, unchanged: 1 });
    }
  });
});
