import { describe, expect, it } from 'vitest';
import { comparable } from '../../support/fixtures/comparable.ts';
import { filled } from '../../support/fixtures/filledOrganisation.ts';
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
const action = (actionId: string) => ({
  actionId,
  action: { name: actionId, script: 'function f() {}', timeout: '1s' },
});
const trigger = (...actionIds: string[]) => ({ flowType: '1', triggerType: '1', actionIds });
const provider = (idpId: string) => ({
  idpId,
  idp: { name: idpId, jwtEndpoint: 'e', issuer: 'i', keysEndpoint: 'k', headerName: 'h' },
});
const ofOrganisation = (idpId: string) => ({ idpId, ownerType: 'IDP_OWNER_TYPE_ORG' });
const linkedTo = (...ids: string[]) => ({
  idps: ids.map((configId) => ({ configId, externalUserId: `${configId} user`, displayName: 'me' })),
});
const domain = (domainName: string, isVerified: boolean) => ({ domainName, isVerified });
const key = (appId: string) => ({ id: 'K', appId, projectId: 'P' });
const api = (appId: string, authMethodType: string) => ({
  appId,
  app: { projectId: 'P', name: appId, authMethodType },
});

/** The content of another organisation, whose records are invalid for references that stay within an organisation. */
const other = organisation('other', {
  projects: [project('theirs'), project('never granted')],
  projectRoles: [role('theirs', 'reader'), role('theirs', 'owner')],
  actions: [action('their action')],
  jwtIdps: [provider('their idp')],
  humanUsers: [person('their user')],
  machineUsers: [{ userId: 'their machine', user: { userName: 'their machine', name: 'm' } }],
  projectGrants: [grant('granted', 'theirs', 'O', 'reader')],
});

/** The other organisation with a grant to a third one. */
const granting = {
  ...other,
  projectGrants: [grant('granted', 'theirs', 'O', 'reader'), grant('to a third', 'theirs', 'third', 'owner')],
};

const base = {
  projects: [project('P')],
  projectRoles: [role('P', 'reader')],
  humanUsers: [person('U')],
  jwtIdps: [provider('idp')],
  actions: [action('act')],
};

/** The error of a record by ZITADEL's id and key. */
const failed = (type: string, id: string, errorId: string, key: string) => ({
  type,
  id,
  message: `ID=${errorId} Message=${key}`,
});

const rows: Readonly<Record<string, readonly [fields: object, error: ReturnType<typeof failed>]>> = {
  'one of the actions of a trigger': [
    { triggerActions: [trigger('act', 'none')] },
    failed('trigger_action', '1_1', 'COMMAND-dg422', 'Errors.Flow.ActionIDsNotExist'),
  ],
  'an action of another organisation': [
    { triggerActions: [trigger('their action')] },
    failed('trigger_action', '1_1', 'COMMAND-dg422', 'Errors.Flow.ActionIDsNotExist'),
  ],
  "an identity provider of another organisation's in a login policy": [
    { loginPolicy: { idps: [ofOrganisation('their idp')] } },
    failed('login_policy', 'O', 'Org-FEd32', 'Errors.IDPConfig.NotExisting'),
  ],
  'the role of a project grant': [
    { projectGrants: [grant('G', 'P', 'other', 'none')] },
    failed('project_grant', 'O_P_other', 'COMMAND-6m9gd', 'Errors.Project.Role.NotFound'),
  ],
  "the role of a user's grant": [
    { userGrants: [{ userId: 'U', projectId: 'P', roleKeys: ['none'] }] },
    failed('user_grant', 'O_P_U', 'COMMAND-mm9F4', 'Errors.Project.Role.NotFound'),
  ],
  "a role of a user's grant that the project grant does not give": [
    { userGrants: [{ userId: 'U', projectId: 'theirs', projectGrantId: 'granted', roleKeys: ['owner'] }] },
    failed('user_grant', 'O_theirs_U', 'COMMAND-mm9F4', 'Errors.Project.Role.NotFound'),
  ],
  "a project of another organisation that is not granted for a user's grant": [
    { userGrants: [{ userId: 'U', projectId: 'never granted' }] },
    failed('user_grant', 'O_never granted_U', 'COMMAND-4m9ff', 'Errors.Project.Grant.NotFound'),
  ],
  'a project of another organisation for a role': [
    { projectRoles: [role('P', 'reader'), role('theirs', 'mine')] },
    failed('project_role', 'theirs_mine', 'COMMAND-EbFMN', 'Errors.Project.NotFound'),
  ],
  'a project of another organisation for an application': [
    { apiApps: [{ appId: 'A', app: { projectId: 'theirs', name: 'a' } }] },
    failed('api_app', 'A', 'COMMAND-EbFMN', 'Errors.Project.NotFound'),
  ],
  'a project of another organisation to grant': [
    { projectGrants: [grant('G', 'theirs', 'other')] },
    failed('project_grant', 'O_theirs_other', 'COMMAND-m9gsd', 'Errors.Project.NotFound'),
  ],
  'a user of another organisation for metadata': [
    { userMetadata: [{ id: 'their user', key: 'k', value: 'eA==' }] },
    failed('user_metadata', 'their user_k', 'COMMAND-uXHNj', 'Errors.User.NotFound'),
  ],
  'a user of another organisation for a link': [
    { userLinks: [{ userId: 'their user', idpId: 'idp', providedUserId: 'x' }] },
    failed('user_link', 'their user_idp', 'COMMAND-vzktar7b7f', 'Errors.User.NotFound'),
  ],
  'a service user of another organisation for a key': [
    { machineKeys: [{ keyId: 'K', userId: 'their machine' }] },
    failed('machine_user_key', 'K', 'COMMAND-bnipwm1', 'Errors.User.NotFound'),
  ],
  'a grant of another project for a member of a project grant': [
    { projectGrantMembers: [{ projectId: 'P', grantId: 'granted', userId: 'U', roles: ['PROJECT_GRANT_OWNER'] }] },
    failed('project_grant_member', 'O_P_granted_U', 'PROJECT-D8JxR', 'Errors.Project.Grant.NotFound'),
  ],
  'a grant between other organisations for a member of a project grant': [
    {
      projectGrantMembers: [
        { projectId: 'theirs', grantId: 'to a third', userId: 'U', roles: ['PROJECT_GRANT_OWNER'] },
        { projectId: 'theirs', grantId: 'granted', userId: 'U', roles: ['PROJECT_GRANT_OWNER'] },
      ],
    },
    failed('project_grant_member', 'O_theirs_to a third_U', 'PROJECT-0l10S9OmZV', 'Errors.Project.Grant.Invalid'),
  ],
  'an unknown grant for a member of a project grant': [
    { projectGrantMembers: [{ projectId: 'P', grantId: 'none', userId: 'U', roles: ['PROJECT_GRANT_OWNER'] }] },
    failed('project_grant_member', 'O_P_none_U', 'PROJECT-D8JxR', 'Errors.Project.Grant.NotFound'),
  ],
  "a grant to a third organisation, with a role that only it has, for a user's grant": [
    { userGrants: [{ userId: 'U', projectId: 'theirs', projectGrantId: 'to a third', roleKeys: ['owner'] }] },
    failed('user_grant', 'O_theirs_U', 'COMMAND-4m9ff', 'Errors.Project.Grant.NotFound'),
  ],
  "a grant of another project for a user's grant": [
    { userGrants: [{ userId: 'U', projectId: 'P', projectGrantId: 'granted', roleKeys: ['reader'] }] },
    failed('user_grant', 'O_P_U', 'COMMAND-mm9F4', 'Errors.Project.Role.NotFound'),
  ],
  "an unknown grant of a granted project for a user's grant": [
    { userGrants: [{ userId: 'U', projectId: 'theirs', projectGrantId: 'none', roleKeys: ['reader'] }] },
    failed('user_grant', 'O_theirs_U', 'COMMAND-4m9ff', 'Errors.Project.Grant.NotFound'),
  ],
  "a role that the project grant does not give for a user's grant without the grant's id": [
    { userGrants: [{ userId: 'U', projectId: 'theirs', roleKeys: ['owner'] }] },
    failed('user_grant', 'O_theirs_U', 'COMMAND-mm9F4', 'Errors.Project.Role.NotFound'),
  ],
  'an application that does not log in with keys for a key': [
    { apiApps: [api('A', 'API_AUTH_METHOD_TYPE_BASIC')], appKeys: [key('A')] },
    failed('app_key', 'K', 'COMMAND-Dff54', 'Errors.Project.App.AuthMethodNoPrivateKeyJWT'),
  ],
  'the project of a role': [
    { projectRoles: [role('none', 'r')] },
    failed('project_role', 'none_r', 'COMMAND-EbFMN', 'Errors.Project.NotFound'),
  ],
  'the project of an application': [
    { apiApps: [{ appId: 'A', app: { projectId: 'none', name: 'a' } }] },
    failed('api_app', 'A', 'COMMAND-EbFMN', 'Errors.Project.NotFound'),
  ],
  'the project of a grant': [
    { projectGrants: [grant('G', 'none', 'O')] },
    failed('project_grant', 'O_none_O', 'COMMAND-m9gsd', 'Errors.Project.NotFound'),
  ],
  'the organisation of a grant': [
    { projectGrants: [grant('G', 'P', 'none')] },
    failed('project_grant', 'O_P_none', 'COMMAND-3m9gg', 'Errors.Org.NotFound'),
  ],
  'the user of a grant': [
    { userGrants: [{ userId: 'none', projectId: 'P' }] },
    failed('user_grant', 'O_P_none', 'COMMAND-4f8sg', 'Errors.User.NotFound'),
  ],
  'the user who is a member': [
    { orgMembers: [{ userId: 'none', roles: ['ORG_OWNER'] }] },
    failed('org_member', 'O_none', 'ORG-GoXOn', 'Errors.User.NotFound'),
  ],
  'the user of metadata': [
    { userMetadata: [{ id: 'none', key: 'k', value: 'eA==' }] },
    failed('user_metadata', 'none_k', 'COMMAND-uXHNj', 'Errors.User.NotFound'),
  ],
  'the application of a key': [
    { appKeys: [{ id: 'K', appId: 'none', projectId: 'none' }] },
    failed('app_key', 'K', 'COMMAND-sak24', 'Errors.Project.App.NotFound'),
  ],
  'the user of a key': [
    { machineKeys: [{ keyId: 'K', userId: 'none' }] },
    failed('machine_user_key', 'K', 'COMMAND-bnipwm1', 'Errors.User.NotFound'),
  ],
  'an e-mail address': [
    { humanUsers: [person('U', { email: { email: 'Ada <ada@example.com>' } })] },
    failed('human_user', 'U', 'EMAIL-599BI', 'Errors.User.Email.Invalid'),
  ],
  'a key that has expired': [
    { machineKeys: [{ keyId: 'K', userId: 'U', expirationDate: '2020-01-01T00:00:00Z' }] },
    failed('machine_user_key', 'K', 'DOMAIN-dv3t5', 'Errors.AuthNKey.ExpireBeforeNow'),
  ],
};

describe('a reference, or a value, that ZITADEL would reject', () => {
  it.each(Object.entries(rows))(
    'is an entry in errors, and does not affect other records: %s',
    async (_what, [fields, error]) => {
      const instance = await testInstance(await openTestStore(sqlite));
      const { errors, summary } = await instance.import(
        request(organisation('O', { ...base, ...fields }), granting, organisation('third')),
      );
      expect(errors).toEqual([error]);
      expect(Object.values(summary.failed)).toEqual([1]);
    },
  );
});

describe('references through lists', () => {
  it('are valid if all of them lead to a record, and the records are exported unchanged', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const org = {
      ...organisation('O', base),
      humanUsers: [{ ...person('U', linkedTo('idp')), state: 'USER_STATE_ACTIVE' }],
      apiApps: [api('A', 'API_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT')],
      appKeys: [key('A')],
      triggerActions: [trigger('act')],
      loginPolicy: { idps: [ofOrganisation('idp')] },
      userGrants: [
        { userId: 'U', projectId: 'P', roleKeys: ['reader'] },
        { userId: 'U', projectId: 'theirs', projectGrantId: 'granted', roleKeys: ['reader'] },
      ],
      projectGrants: [grant('G', 'P', 'other', 'reader')],
      orgState: 'ORG_STATE_ACTIVE',
    };
    expect((await instance.import(request(org, other))).errors).toBeUndefined();
    const { orgs } = await instance.export();
    expect(comparable(orgs.filter(({ orgId }) => orgId === 'O'))).toEqual(comparable([filled(org)]));
    const again = await instance.import(request(org, other));
    expect({ errors: again.errors, created: again.summary.created }).toEqual({ errors: undefined, created: {} });
  });

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
      {
        type: 'login_policy',
        id: 'O',
        reason: 'reference_missing',
        message: 'users cannot log in with an identity provider until the target has it: LDAP',
      },
      {
        type: 'user_link',
        id: 'U_GitHub',
        reason: 'reference_missing',
        message: 'the link works once the target has its identity provider: GitHub',
      },
    ]);
    expect((await instance.export()).orgs[0]).toMatchObject({ loginPolicy, userLinks: org.userLinks });

    const again = await instance.import(request(org));
    expect({ ...again.summary, errors: again.errors }).toMatchObject({ ...kept, warnings: summary.warnings });
    await instance.import(request({ orgId: 'O', jwtIdps: [provider('GitHub'), provider('LDAP')] }));
    expect((await instance.import(request(org))).summary).toMatchObject({ warnings: [unproved] });
  });

  it('that are missing or foreign are named in warnings, unless the id of the error names them', async () => {
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
    const { errors, summary } = await instance.import(request(granting, granted));
    const named = (type: string, id: string, message: string) => ({ type, id, reason: 'reference_missing', message });
    const absent = 'which does not exist: import it first, or correct its own error';
    expect(errors).toHaveLength(5);
    expect(summary.warnings).toEqual(
      expect.arrayContaining([
        named('project_grant', 'granting_P_granted', `projectGrant.roleKeys has "gone", ${absent}`),
        named('user_grant', 'granted_P_U', `projectGrantId has "G", ${absent}`),
        named('project_role', 'P_mine', 'projectId has "P", which belongs to organisation granting'),
        named('user_link', '_idp', 'userId is missing: add it'),
      ]),
    );
    expect(JSON.stringify(errors)).toContain('"granted_P_nobody"');
    expect(JSON.stringify(summary.warnings)).not.toContain('nobody');
  });

  it('to identity providers of another organisation fail nevertheless', async () => {
    const instance = await testInstance(await openTestStore(sqlite));
    const userLinks = [{ userId: 'U', idpId: 'their idp', providedUserId: 'u' }];
    const { errors } = await instance.import(request(organisation('O', { ...base, userLinks }), other));
    expect(errors).toEqual([failed('user_link', 'U_their idp', 'COMMAND-39nf2', 'Errors.IDPConfig.NotExisting')]);
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

describe('a user name that ends in the verified domain of another organisation', () => {
  const error = failed('human_user', 'U', 'COMMAND-SFd21', 'Errors.User.DomainNotAllowedAsUsername');
  const named = (userName: string, more: object = {}) =>
    organisation('O', { humanUsers: [person('U', { userName })], ...more });
  const holder = (isVerified: boolean) => organisation('holder', { domains: [domain('taken.example', isVerified)] });

  it('is rejected, in any order of the organisations, whether the domain exists already or is in the same document', async () => {
    const orgs = [named('a@b@Taken.Example'), holder(true)];
    for (const documents of [[orgs], [orgs.toReversed()], [[holder(true)], [named('me@taken.example')]]]) {
      const instance = await testInstance(await openTestStore(sqlite));
      const errors: unknown[] = [];
      for (const document of documents) errors.push(...((await instance.import(request(...document))).errors ?? []));
      expect(errors).toEqual([error]);
    }
  });

  it.each<[string, Organisation[]]>([
    ['the domain is not verified', [named('me@taken.example'), holder(false)]],
    ['the domain is its own', [named('me@taken.example', { domains: [domain('taken.example', true)] })]],
    ['it only looks like the end', [named('me@not-taken.example'), holder(true)]],
    [
      'login names carry the domain of their organisation',
      [named('me@taken.example', { domainPolicy: { orgId: 'O', userLoginMustBeDomain: true } }), holder(true)],
    ],
  ])('is accepted if %s', async (_case, orgs) => {
    const instance = await testInstance(await openTestStore(sqlite));
    expect((await instance.import(request(...orgs))).errors).toBeUndefined();
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
