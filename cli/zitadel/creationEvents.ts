// The events by which an import of ZITADEL creates records.

import type { FieldPath } from '../../shared/organisation/relations.ts';
import type { SectionName } from '../../shared/organisation/section.ts';

/** The event of the creation of a section's records. */
export interface CreationEvent {
  readonly aggregateType: string;
  readonly type: string;
  /** The path of the aggregate's id in the record; undefined if ZITADEL generates it. */
  readonly aggregateId?: FieldPath;
  /** The fields of the event that identify the record, with the paths of their values in the record. */
  readonly fields?: Readonly<Record<string, FieldPath>>;
  /** Whether the record's organisation may differ from the owner of the aggregate. */
  readonly isShared?: true;
}

const ofOrganisation = { aggregateType: 'org', aggregateId: '$orgId' } as const;
const policy = (name: string): CreationEvent => ({ ...ofOrganisation, type: `org.policy.${name}.added` });
const text = (template: string): CreationEvent => ({
  ...ofOrganisation,
  type: 'org.customtext.set',
  fields: { template: `=${template}`, language: 'language' },
});
const provider: CreationEvent = { ...ofOrganisation, type: 'org.idp.config.added', fields: { idpConfigId: 'idpId' } };
const application: CreationEvent = {
  aggregateType: 'project',
  aggregateId: 'app.projectId',
  type: 'project.application.added',
  fields: { appId: 'appId' },
};

/** The events that imports of 2.71 and 4.x write for new records, by section. Everything about creations follows from them. */
export const creationEvents: Partial<Readonly<Record<SectionName, CreationEvent>>> = {
  org: { ...ofOrganisation, type: 'org.added' },
  domainPolicy: policy('domain'),
  labelPolicy: policy('label'),
  lockoutPolicy: policy('lockout'),
  loginPolicy: policy('login'),
  passwordComplexityPolicy: policy('password.complexity'),
  privacyPolicy: policy('privacy'),
  domains: { ...ofOrganisation, type: 'org.domain.added', fields: { domain: 'domainName' } },
  oidcIdps: provider,
  jwtIdps: provider,
  humanUsers: { aggregateType: 'user', aggregateId: 'userId', type: 'user.human.added' },
  machineUsers: { aggregateType: 'user', aggregateId: 'userId', type: 'user.machine.added' },
  userMetadata: { aggregateType: 'user', aggregateId: 'id', type: 'user.metadata.set', fields: { key: 'key' } },
  machineKeys: {
    aggregateType: 'user',
    aggregateId: 'userId',
    type: 'user.machine.key.added',
    fields: { keyId: 'keyId' },
  },
  userLinks: {
    aggregateType: 'user',
    aggregateId: 'userId',
    type: 'user.human.externalidp.added',
    fields: { idpConfigId: 'idpId', userId: 'providedUserId' },
  },
  projects: { aggregateType: 'project', aggregateId: 'projectId', type: 'project.added' },
  projectRoles: {
    aggregateType: 'project',
    aggregateId: 'projectId',
    type: 'project.role.added',
    fields: { key: 'roleKey' },
  },
  apiApps: application,
  oidcApps: application,
  appKeys: {
    aggregateType: 'project',
    aggregateId: 'projectId',
    type: 'project.application.oidc.key.added',
    fields: { keyId: 'id' },
  },
  actions: { aggregateType: 'action', aggregateId: 'actionId', type: 'action.added' },
  triggerActions: {
    ...ofOrganisation,
    type: 'org.flow.trigger_actions.set',
    fields: { flowType: 'flowType', triggerType: 'triggerType' },
  },
  projectGrants: {
    aggregateType: 'project',
    aggregateId: 'projectGrant.projectId',
    type: 'project.grant.added',
    fields: { grantId: 'grantId' },
  },
  userGrants: {
    aggregateType: 'usergrant',
    type: 'user.grant.added',
    fields: { userId: 'userId', projectId: 'projectId' },
  },
  orgMembers: { ...ofOrganisation, type: 'org.member.added', fields: { userId: 'userId' } },
  projectMembers: {
    aggregateType: 'project',
    aggregateId: 'projectId',
    type: 'project.member.added',
    fields: { userId: 'userId' },
  },
  projectGrantMembers: {
    aggregateType: 'project',
    aggregateId: 'projectId',
    type: 'project.grant.member.added',
    fields: { grantId: 'grantId', userId: 'userId' },
    isShared: true,
  },
  loginTexts: text('Login'),
  initMessages: text('InitCode'),
  passwordResetMessages: text('PasswordReset'),
  verifyEmailMessages: text('VerifyEmail'),
  verifyPhoneMessages: text('VerifyPhone'),
  domainClaimedMessages: text('DomainClaimed'),
  passwordlessRegistrationMessages: text('PasswordlessRegistration'),
  inviteUserMessages: text('InviteUser'),
};

/** Returns the event of a section whose records ZITADEL creates. */
export function creationEventOf(section: SectionName): CreationEvent {
  const event = creationEvents[section];
  if (event === undefined) throw new Error(`no event creates ${section}`);
  return event;
}
