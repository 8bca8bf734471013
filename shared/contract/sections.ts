import { checkOrganisationMember, checkTriggerAction } from './recordChecks.ts';
import type { Section } from './section.ts';
import { identityProvider, policy, project, taken, texts, user, userName } from './sectionParts.ts';

/** The organisation itself: `org` and `orgState` of the document. Written before every other section. */
export const organisationSection: Section = {
  name: 'org',
  collection: 'organisations',
  phase: 1,
  key: ['$orgId'],
  unique: [{ type: 'organisation', parts: ['org.name'], taken: taken('Errors.Org.AlreadyExists') }],
  error: { type: 'org', id: ['$orgId'], exists: { id: 'ORG-lapo2n', key: 'Errors.Org.AlreadyExisting' } },
};

/**
 * All other sections of the organisation document, in the order in which they are exported and written (contract 5.4).
 * Export and import walk this table; a new section is a new row.
 */
export const sections: readonly Section[] = [
  {
    ...policy('domainPolicy', 'domain_policy', 'ORG-1M8ds', 'Errors.Org.DomainPolicy.AlreadyExists'),
    fixed: 'userLoginMustBeDomain',
  },
  policy('labelPolicy', 'label_policy', 'Org-2B0ps', 'Errors.Org.LabelPolicy.AlreadyExists'),
  policy('lockoutPolicy', 'lockout_policy', 'ORG-0olDf', 'Errors.ORG.LockoutPolicy.AlreadyExists'),
  policy('loginPolicy', 'login_policy', 'Org-Dgfb2', 'Errors.Org.LoginPolicy.AlreadyExists'),
  policy(
    'passwordComplexityPolicy',
    'password_complexity_policy',
    'Org-LdhbS',
    'Errors.Org.PasswordComplexityPolicy.AlreadyExists',
  ),
  policy('privacyPolicy', 'privacy_policy', 'Org-0oLpd', 'Errors.Org.PrivacyPolicy.AlreadyExists'),
  {
    name: 'projects',
    inner: 'project',
    collection: 'projects',
    phase: 1,
    key: ['projectId'],
    unique: [{ type: 'project', parts: ['$orgId', 'project.name'], taken: taken('Errors.Project.AlreadyExists') }],
    error: {
      type: 'project',
      id: ['projectId'],
      exists: { id: 'COMMAND-opamwu', key: 'Errors.Project.AlreadyExisting' },
    },
    success: { field: 'projectIds', entry: ['projectId'] },
  },
  {
    name: 'projectRoles',
    collection: 'projectRoles',
    phase: 2,
    key: ['projectId', 'roleKey'],
    references: [project('projectId', 'COMMAND-EbFMN')],
    error: { type: 'project_role', id: ['projectId', 'roleKey'], exists: taken('Errors.Project.Role.AlreadyExists') },
    success: { field: 'projectRoles', entry: ['projectId', 'roleKey'] },
  },
  {
    name: 'apiApps',
    inner: 'app',
    collection: 'applications',
    phase: 2,
    key: ['appId'],
    references: [project('app.projectId', 'COMMAND-EbFMN')],
    error: {
      type: 'api_app',
      id: ['appId'],
      exists: { id: 'PROJECT-mabu12', key: 'Errors.Project.App.AlreadyExisting' },
    },
    success: { field: 'apiAppIds', entry: ['appId'] },
  },
  {
    name: 'oidcApps',
    inner: 'app',
    collection: 'applications',
    phase: 2,
    key: ['appId'],
    references: [project('app.projectId', 'COMMAND-EbFMN')],
    error: {
      type: 'oidc_app',
      id: ['appId'],
      exists: { id: 'PROJECT-lxowmp', key: 'Errors.Project.App.AlreadyExisting' },
    },
    success: { field: 'oidcAppIds', entry: ['appId'] },
  },
  {
    name: 'humanUsers',
    inner: 'user',
    collection: 'users',
    phase: 1,
    key: ['userId'],
    unique: userName,
    credentials: [
      { path: 'user.hashedPassword.value', field: 'passwordHash', flag: 'withPasswords' },
      { path: 'user.otpCode', field: 'totpSeed', flag: 'withOtp' },
    ],
    error: { type: 'human_user', id: ['userId'], exists: { id: 'COMMAND-ziuna', key: 'Errors.User.AlreadyExisting' } },
    success: { field: 'humanUserIds', entry: ['userId'] },
  },
  {
    name: 'machineUsers',
    inner: 'user',
    collection: 'users',
    phase: 1,
    key: ['userId'],
    unique: userName,
    error: {
      type: 'machine_user',
      id: ['userId'],
      exists: { id: 'COMMAND-k2una', key: 'Errors.User.AlreadyExisting' },
    },
    success: { field: 'machineUserIds', entry: ['userId'] },
  },
  {
    name: 'triggerActions',
    collection: 'triggerActions',
    phase: 2,
    key: ['$orgId', 'flowType', 'triggerType'],
    check: checkTriggerAction,
    error: {
      type: 'trigger_action',
      id: ['flowType', 'triggerType'],
      exists: { id: 'COMMAND-Nfh52', key: 'Errors.Flow.AlreadyExists' },
    },
    success: {
      field: 'triggerActions',
      entry: { flowType: 'flowType', triggerType: 'triggerType', actionIds: 'actionIds' },
    },
  },
  {
    name: 'actions',
    inner: 'action',
    collection: 'actions',
    phase: 1,
    key: ['actionId'],
    unique: [{ type: 'action', parts: ['$orgId', 'action.name'], taken: taken('Errors.Action.AlreadyExists') }],
    error: { type: 'action', id: ['actionId'], exists: { id: 'COMMAND-nau2k', key: 'Errors.Action.AlreadyExisting' } },
    success: { field: 'actionIds', entry: ['actionId'] },
  },
  {
    name: 'projectGrants',
    inner: 'projectGrant',
    collection: 'projectGrants',
    phase: 2,
    key: ['grantId'],
    unique: [
      {
        type: 'projectGrant',
        parts: ['projectGrant.projectId', 'projectGrant.grantedOrgId'],
        taken: taken('Errors.Project.Grant.AlreadyExists'),
      },
    ],
    references: [
      project('projectGrant.projectId', 'COMMAND-m9gsd'),
      {
        collection: 'organisations',
        key: ['projectGrant.grantedOrgId'],
        missing: { id: 'COMMAND-3m9gg', key: 'Errors.Org.NotFound' },
      },
    ],
    error: {
      type: 'project_grant',
      id: ['$orgId', 'projectGrant.projectId', 'projectGrant.grantedOrgId'],
      exists: taken('Errors.Project.Grant.AlreadyExists'),
    },
    success: {
      field: 'projectGrants',
      entry: { grantId: 'grantId', projectId: 'projectGrant.projectId', orgId: 'projectGrant.grantedOrgId' },
    },
  },
  {
    name: 'userGrants',
    collection: 'userGrants',
    phase: 3,
    key: ['$orgId', 'userId', 'projectId', 'projectGrantId'],
    references: [
      user('userId', 'COMMAND-4f8sg'),
      project('projectId', 'COMMAND-3n77S'),
      {
        collection: 'projectGrants',
        key: ['projectGrantId'],
        missing: { id: 'COMMAND-4m9ff', key: 'Errors.Project.Grant.NotFound' },
        optional: true,
      },
    ],
    error: {
      type: 'user_grant',
      id: ['$orgId', 'projectId', 'userId'],
      exists: taken('Errors.UserGrant.AlreadyExists'),
    },
    success: { field: 'userGrants', entry: { projectId: 'projectId', userId: 'userId' } },
  },
  {
    name: 'orgMembers',
    collection: 'members',
    phase: 3,
    key: ['=organisation', '$orgId', 'userId'],
    check: checkOrganisationMember,
    references: [user('userId', 'ORG-GoXOn')],
    error: {
      type: 'org_member',
      id: ['$orgId', 'userId'],
      exists: { id: 'ORG-poWwe', key: 'Errors.Org.Member.AlreadyExists' },
    },
    success: { field: 'orgMembers', entry: ['userId'] },
  },
  {
    name: 'projectMembers',
    collection: 'members',
    phase: 3,
    key: ['=project', 'projectId', 'userId'],
    // ZITADEL lists the members of every project under every organisation; they are taken where their project is.
    references: [
      { ...project('projectId', 'COMMAND-EbFMN'), ofOther: 'notCarried' },
      user('userId', 'IMPORT-userMissing'),
    ],
    error: {
      type: 'project_member',
      id: ['$orgId', 'projectId', 'userId'],
      exists: { id: 'PROJECT-PtXi1', key: 'Errors.Project.Member.AlreadyExists' },
    },
    success: { field: 'projectMembers', entry: { projectId: 'projectId', userId: 'userId' } },
  },
  {
    name: 'projectGrantMembers',
    collection: 'members',
    phase: 3,
    key: ['=projectGrant', 'projectId', 'grantId', 'userId'],
    references: [
      {
        collection: 'projectGrants',
        key: ['grantId'],
        missing: { id: 'IMPORT-projectGrantMissing', key: 'Errors.Project.Grant.NotFound' },
      },
      user('userId', 'IMPORT-userMissing'),
    ],
    error: {
      type: 'project_grant_member',
      id: ['$orgId', 'projectId', 'grantId', 'userId'],
      exists: { id: 'PROJECT-37fug', key: 'Errors.AlreadyExists' },
    },
    success: {
      field: 'projectGrantMembers',
      entry: { projectId: 'projectId', grantId: 'grantId', userId: 'userId' },
    },
  },
  {
    name: 'userMetadata',
    collection: 'userMetadata',
    phase: 2,
    key: ['id', 'key'],
    references: [user('id', 'COMMAND-uXHNj')],
    error: {
      type: 'user_metadata',
      id: ['id', 'key'],
      exists: { id: 'IMPORT-metadataExists', key: 'Errors.Metadata.AlreadyExists' },
    },
    success: { field: 'userMetadata', entry: { userId: 'id', key: 'key' } },
  },
  texts('loginTexts', 'login_texts'),
  texts('initMessages', 'init_message'),
  texts('passwordResetMessages', 'password_reset_message'),
  texts('verifyEmailMessages', 'verify_email_message'),
  texts('verifyPhoneMessages', 'verify_phone_message'),
  texts('domainClaimedMessages', 'domain_claimed_message'),
  texts('passwordlessRegistrationMessages', 'passwordless_registration_message'),
  {
    name: 'oidcIdps',
    inner: 'idp',
    collection: 'identityProviders',
    phase: 1,
    key: ['idpId'],
    unique: [
      { type: 'identityProvider', parts: ['$orgId', 'idp.name'], taken: taken('Errors.IDPConfig.AlreadyExists') },
    ],
    credentials: [{ path: 'idp.clientSecret', field: 'clientSecret', flag: 'withPasswords' }],
    error: {
      type: 'oidc_idp',
      id: ['idpId'],
      exists: { id: 'Org-1J8fs', key: 'Errors.Org.IDPConfig.AlreadyExisting' },
    },
    success: { field: 'oidcIpds', entry: ['idpId'] },
  },
  {
    name: 'jwtIdps',
    inner: 'idp',
    collection: 'identityProviders',
    phase: 1,
    key: ['idpId'],
    unique: [
      { type: 'identityProvider', parts: ['$orgId', 'idp.name'], taken: taken('Errors.IDPConfig.AlreadyExists') },
    ],
    error: { type: 'jwt_idp', id: ['idpId'], exists: { id: 'Org-1J8fs', key: 'Errors.Org.IDPConfig.AlreadyExisting' } },
    success: { field: 'jwtIdps', entry: ['idpId'] },
  },
  {
    name: 'userLinks',
    collection: 'userLinks',
    phase: 2,
    key: ['idpId', 'providedUserId'],
    references: [identityProvider('COMMAND-39nf2'), user('userId', 'COMMAND-vzktar7b7f')],
    error: { type: 'user_link', id: ['userId', 'idpId'], exists: taken('Errors.User.ExternalIDP.AlreadyExists') },
    success: {
      field: 'userLinks',
      entry: { userId: 'userId', externalUserId: 'providedUserId', displayName: 'providedUserName', idpId: 'idpId' },
    },
  },
  {
    name: 'domains',
    collection: 'domains',
    phase: 1,
    key: ['$orgId', 'domainName'],
    unique: [
      {
        type: 'domain',
        parts: ['domainName'],
        onlyIf: 'isVerified',
        taken: taken('Errors.Org.Domain.AlreadyExists'),
      },
    ],
    error: { type: 'domain', id: ['$orgId', 'domainName'], exists: { id: 'V2-e1wse', key: 'Errors.Already.Exists' } },
    success: { field: 'domains', entry: ['domainName'] },
  },
  {
    name: 'appKeys',
    collection: 'applicationKeys',
    phase: 3,
    key: ['id'],
    references: [
      {
        collection: 'applications',
        key: ['appId'],
        missing: { id: 'COMMAND-sak24', key: 'Errors.Project.App.NotFound' },
      },
    ],
    error: {
      type: 'app_key',
      id: ['id'],
      exists: { id: 'COMMAND-so20alo', key: 'Errors.Project.App.Key.AlreadyExisting' },
    },
    success: { field: 'appKeys', entry: ['id'] },
    keys: true,
  },
  {
    name: 'machineKeys',
    collection: 'machineKeys',
    phase: 2,
    key: ['keyId'],
    references: [user('userId', 'COMMAND-bnipwm1')],
    error: {
      type: 'machine_user_key',
      id: ['keyId'],
      exists: { id: 'COMMAND-091mops', key: 'Errors.User.Machine.Key.AlreadyExists' },
    },
    success: { field: 'machineKeys', entry: ['keyId'] },
    keys: true,
  },
  texts('verifySmsOtpMessages', 'verify_sms_otp_message'),
  texts('verifyEmailOtpMessages', 'verify_email_otp_message'),
  texts('inviteUserMessages', 'invite_user_messages'),
];

/**
 * The section of a name that the program itself chose.
 * @throws Error where the table has no such section
 */
export function sectionNamed(name: string): Section {
  const section = sections.find((row) => row.name === name);
  if (section === undefined) throw new Error(`there is no section ${name}`);
  return section;
}
