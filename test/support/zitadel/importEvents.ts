import { type JsonObject, textAt, valueAt } from '../../../shared/json/jsonObject.ts';
import { userGrantId } from './closing.ts';
import { elements } from './contents.ts';
import type { EventDraft } from './eventLog.ts';

/** Returns the events of an imported record's creation. */
type EventsOf = (json: JsonObject, orgId: string) => EventDraft[];

/** Creates the events of one aggregate from the path of its id, the types and the payload. */
const of =
  (
    aggregateType: string,
    id: string,
    types: readonly string[],
    payload: (json: JsonObject, orgId: string) => JsonObject = () => ({}),
  ): EventsOf =>
  (json, orgId) =>
    types.map((type) => ({ aggregateType, aggregateId: textAt(json, id, orgId), type, payload: payload(json, orgId) }));

const policy = (name: string) => of('org', '$orgId', [`org.policy.${name}.added`]);
const provider = (kind: string) =>
  of('org', '$orgId', ['org.idp.config.added', `org.idp.${kind}.config.added`], ({ idpId }) => ({
    idpConfigId: idpId,
  }));
const application = (kind: string) =>
  of('project', 'app.projectId', ['project.application.added', `project.application.config.${kind}.added`], (json) => ({
    appId: json.appId,
  }));
const member = (aggregateType: string, id: string, type: string) =>
  of(aggregateType, id, [type], ({ userId, grantId, roles }) => ({
    userId,
    roles,
    ...(grantId === undefined ? {} : { grantId }),
  }));
const text =
  (template: string): EventsOf =>
  ({ language, ...texts }, orgId) =>
    Object.keys(texts).map((key) => ({
      aggregateType: 'org',
      aggregateId: orgId,
      type: 'org.customtext.set',
      payload: { template, key, language },
    }));

const person: EventsOf = (json) => {
  const aggregate = { aggregateType: 'user', aggregateId: textAt(json, 'userId', '') };
  const links = elements(valueAt(json, 'user.idps')).map(({ configId, externalUserId }) => ({
    ...aggregate,
    type: 'user.human.externalidp.added',
    payload: { idpConfigId: configId, userId: externalUserId },
  }));
  return [
    { ...aggregate, type: 'user.human.added', payload: { userName: textAt(json, 'user.userName', '') } },
    ...links,
  ];
};

/** The events of imported records by section, as seen in 4.x and read in its source. */
const bySection: Readonly<Record<string, EventsOf>> = {
  domainPolicy: of('org', '$orgId', ['org.policy.domain.added'], ({ userLoginMustBeDomain }) =>
    userLoginMustBeDomain === true ? { userLoginMustBeDomain } : {},
  ),
  labelPolicy: policy('label'),
  lockoutPolicy: policy('lockout'),
  loginPolicy: policy('login'),
  passwordComplexityPolicy: policy('password.complexity'),
  privacyPolicy: policy('privacy'),
  domains: of('org', '$orgId', ['org.domain.added'], ({ domainName }) => ({ domain: domainName })),
  oidcIdps: provider('oidc'),
  jwtIdps: provider('jwt'),
  humanUsers: person,
  machineUsers: of('user', 'userId', ['user.machine.added'], (json) => ({
    userName: textAt(json, 'user.userName', ''),
  })),
  userMetadata: of('user', 'id', ['user.metadata.set'], ({ key }) => ({ key })),
  machineKeys: of('user', 'userId', ['user.machine.key.added'], ({ keyId }) => ({ keyId })),
  userLinks: of('user', 'userId', ['user.human.externalidp.added'], ({ idpId, providedUserId }) => ({
    idpConfigId: idpId,
    userId: providedUserId,
  })),
  projects: of('project', 'projectId', ['project.added'], (json) => ({ name: textAt(json, 'project.name', '') })),
  projectRoles: of('project', 'projectId', ['project.role.added'], ({ roleKey }) => ({ key: roleKey })),
  oidcApps: application('oidc'),
  apiApps: application('api'),
  appKeys: of('project', 'projectId', ['project.application.oidc.key.added'], ({ id, appId }) => ({
    keyId: id,
    applicationId: appId,
  })),
  actions: of('action', 'actionId', ['action.added'], (json) => ({ name: textAt(json, 'action.name', '') })),
  triggerActions: of('org', '$orgId', ['org.flow.trigger_actions.set'], ({ flowType, triggerType, actionIds }) => ({
    flowType: Number(flowType),
    triggerType: Number(triggerType),
    actionIDs: actionIds,
  })),
  projectGrants: of('project', 'projectGrant.projectId', ['project.grant.added'], (json) => ({
    grantId: json.grantId,
    grantedOrgId: textAt(json, 'projectGrant.grantedOrgId', ''),
  })),
  userGrants: (json) => [
    {
      aggregateType: 'usergrant',
      aggregateId: userGrantId(json),
      type: 'user.grant.added',
      payload: {
        userId: json.userId,
        projectId: json.projectId,
        grantId: json.projectGrantId,
        roleKeys: json.roleKeys,
      },
    },
  ],
  orgMembers: member('org', '$orgId', 'org.member.added'),
  projectMembers: member('project', 'projectId', 'project.member.added'),
  projectGrantMembers: member('project', 'projectId', 'project.grant.member.added'),
  loginTexts: text('Login'),
  initMessages: text('InitCode'),
  passwordResetMessages: text('PasswordReset'),
  verifyEmailMessages: text('VerifyEmail'),
  domainClaimedMessages: text('DomainClaimed'),
  passwordlessRegistrationMessages: text('PasswordlessRegistration'),
  inviteUserMessages: text('InviteUser'),
};

/** Returns the events of the creation of a record by an import. */
export function creationEvents(section: string, json: JsonObject, orgId: string): EventDraft[] {
  return bySection[section]?.(json, orgId) ?? [];
}
