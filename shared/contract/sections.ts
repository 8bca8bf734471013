import { checkExpiry, checkMachineKey } from './keyChecks.ts';
import { checkLabelPolicy, checkLoginPolicy } from './policyChecks.ts';
import {
  checkApplicationOfKey,
  checkOrganisationMember,
  checkPerson,
  checkTriggerAction,
  checkUsedProjectGrant,
} from './recordChecks.ts';
import type { RecordFault, Section } from './section.ts';
import { identityProvider, own, policy, project, projectRoles, taken, texts, user, userName } from './sectionParts.ts';

/** Of a project of another organisation, or to the organisation that grants it. */
const projectGrantInvalid: RecordFault = { id: 'PROJECT-ckUpbvboAH', key: 'Errors.Project.Grant.Invalid' };

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
  policy(
    'domainPolicy',
    'domain_policy',
    { id: 'ORG-1M8ds', key: 'Errors.Org.DomainPolicy.AlreadyExists' },
    { fixed: 'userLoginMustBeDomain' },
  ),
  policy(
    'labelPolicy',
    'label_policy',
    { id: 'Org-2B0ps', key: 'Errors.Org.LabelPolicy.AlreadyExists' },
    { check: checkLabelPolicy },
  ),
  policy('lockoutPolicy', 'lockout_policy', { id: 'ORG-0olDf', key: 'Errors.ORG.LockoutPolicy.AlreadyExists' }),
  policy(
    'loginPolicy',
    'login_policy',
    { id: 'Org-Dgfb2', key: 'Errors.Org.LoginPolicy.AlreadyExists' },
    // Providers of the instance are not carried, so the target has its own: the policy keeps naming them.
    {
      check: checkLoginPolicy,
      references: [own(identityProvider('idps[ownerType=IDP_OWNER_TYPE_ORG].idpId', 'Org-FEd32'))],
    },
  ),
  policy('passwordComplexityPolicy', 'password_complexity_policy', {
    id: 'Org-LdhbS',
    key: 'Errors.Org.PasswordComplexityPolicy.AlreadyExists',
  }),
  policy('privacyPolicy', 'privacy_policy', { id: 'Org-0oLpd', key: 'Errors.Org.PrivacyPolicy.AlreadyExists' }),
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
    references: [
      {
        ...project('projectId', 'COMMAND-EbFMN'),
        ofOther: { id: 'PROJECT-RLB4UpqQSd', key: 'Errors.Project.Role.Invalid' },
      },
    ],
    error: { type: 'project_role', id: ['projectId', 'roleKey'], exists: taken('Errors.Project.Role.AlreadyExists') },
    success: { field: 'projectRoles', entry: ['projectId', 'roleKey'] },
  },
  {
    name: 'apiApps',
    inner: 'app',
    collection: 'applications',
    phase: 2,
    key: ['appId'],
    references: [own(project('app.projectId', 'COMMAND-EbFMN'))],
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
    references: [own(project('app.projectId', 'COMMAND-EbFMN'))],
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
    phase: 2,
    key: ['userId'],
    unique: userName,
    reserved: [
      {
        type: 'domain',
        suffixOf: 'user.userName',
        reserved: { id: 'COMMAND-SFd21', key: 'Errors.User.DomainNotAllowedAsUsername' },
      },
    ],
    references: [identityProvider('user.idps[].configId', 'COMMAND-39nfs')],
    check: checkPerson,
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
    phase: 2,
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
    references: [
      own({
        collection: 'actions',
        key: ['actionIds[]'],
        missing: { id: 'COMMAND-dg422', key: 'Errors.Flow.ActionIDsNotExist' },
      }),
    ],
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
    phase: 3,
    key: ['grantId'],
    unique: [
      {
        type: 'projectGrant',
        parts: ['projectGrant.projectId', 'projectGrant.grantedOrgId'],
        taken: taken('Errors.Project.Grant.AlreadyExists'),
      },
    ],
    references: [
      { ...project('projectGrant.projectId', 'COMMAND-m9gsd'), ofOther: projectGrantInvalid },
      {
        collection: 'organisations',
        key: ['projectGrant.grantedOrgId'],
        missing: { id: 'COMMAND-3m9gg', key: 'Errors.Org.NotFound' },
        ofOwn: projectGrantInvalid,
      },
      projectRoles('projectGrant.projectId', 'projectGrant.roleKeys[]', 'COMMAND-6m9gd'),
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
    phase: 4,
    key: ['$orgId', 'userId', 'projectId', 'projectGrantId'],
    references: [
      user('userId', 'COMMAND-4f8sg'),
      project('projectId', 'COMMAND-3n77S'),
      {
        collection: 'projectGrants',
        key: ['projectGrantId'],
        missing: { id: 'COMMAND-4m9ff', key: 'Errors.Project.Grant.NotFound' },
        optional: true,
        check: checkUsedProjectGrant,
      },
      projectRoles('projectId', 'roleKeys[]', 'COMMAND-mm9F4'),
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
    phase: 4,
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
    phase: 3,
    key: ['id', 'key'],
    references: [own(user('id', 'COMMAND-uXHNj'))],
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
    phase: 3,
    key: ['idpId', 'providedUserId'],
    references: [own(user('userId', 'COMMAND-vzktar7b7f')), own(identityProvider('idpId', 'COMMAND-39nf2'))],
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
        ...own({
          collection: 'applications',
          key: ['appId'],
          missing: { id: 'COMMAND-sak24', key: 'Errors.Project.App.NotFound' },
        }),
        check: checkApplicationOfKey,
      },
    ],
    check: checkExpiry,
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
    phase: 3,
    key: ['keyId'],
    references: [own(user('userId', 'COMMAND-bnipwm1'))],
    check: checkMachineKey,
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
