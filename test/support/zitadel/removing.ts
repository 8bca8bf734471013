import { type JsonObject, textAt, textsAt } from '../../../shared/json/jsonObject.ts';
import { type ClosingError, userGrantId } from './closing.ts';
import { type Contents, elements } from './contents.ts';
import type { EventDraft } from './eventLog.ts';
import { creationEvents } from './importEvents.ts';

/** The records that a call deletes: its sections, and the paths of the fields that the request names. */
interface RemovalRow {
  readonly sections: readonly string[];
  readonly fields: Readonly<Record<string, string>>;
}

const policy = (section: string): RemovalRow => ({ sections: [section], fields: {} });
const text = (section: string): RemovalRow => ({ sections: [section], fields: { language: 'language' } });

/** The calls that delete records. */
const rows: Readonly<Record<string, RemovalRow>> = {
  removeUser: { sections: ['humanUsers', 'machineUsers'], fields: { id: 'userId' } },
  removeUserMetadata: { sections: ['userMetadata'], fields: { id: 'id', key: 'key' } },
  removeMachineKey: { sections: ['machineKeys'], fields: { userId: 'userId', keyId: 'keyId' } },
  removeHumanLinkedIDP: {
    sections: ['userLinks'],
    fields: { userId: 'userId', idpId: 'idpId', linkedUserId: 'providedUserId' },
  },
  removeOrgIDP: { sections: ['oidcIdps', 'jwtIdps'], fields: { idpId: 'idpId' } },
  removeOrgDomain: { sections: ['domains'], fields: { domain: 'domainName' } },
  removeProject: { sections: ['projects'], fields: { id: 'projectId' } },
  removeProjectRole: { sections: ['projectRoles'], fields: { projectId: 'projectId', roleKey: 'roleKey' } },
  removeApp: { sections: ['apiApps', 'oidcApps'], fields: { projectId: 'app.projectId', appId: 'appId' } },
  removeAppKey: { sections: ['appKeys'], fields: { projectId: 'projectId', appId: 'appId', keyId: 'id' } },
  deleteAction: { sections: ['actions'], fields: { id: 'actionId' } },
  setTriggerActions: { sections: ['triggerActions'], fields: { flowType: 'flowType', triggerType: 'triggerType' } },
  removeProjectGrant: {
    sections: ['projectGrants'],
    fields: { projectId: 'projectGrant.projectId', grantId: 'grantId' },
  },
  removeUserGrant: { sections: ['userGrants'], fields: { userId: 'userId' } },
  removeOrgMember: { sections: ['orgMembers'], fields: { userId: 'userId' } },
  removeProjectMember: { sections: ['projectMembers'], fields: { projectId: 'projectId', userId: 'userId' } },
  removeProjectGrantMember: {
    sections: ['projectGrantMembers'],
    fields: { projectId: 'projectId', grantId: 'grantId', userId: 'userId' },
  },
  resetLabelPolicyToDefault: policy('labelPolicy'),
  resetLockoutPolicyToDefault: policy('lockoutPolicy'),
  resetLoginPolicyToDefault: policy('loginPolicy'),
  resetPasswordComplexityPolicyToDefault: policy('passwordComplexityPolicy'),
  resetPrivacyPolicyToDefault: policy('privacyPolicy'),
  resetCustomLoginTextToDefault: text('loginTexts'),
  resetCustomInitMessageTextToDefault: text('initMessages'),
  resetCustomPasswordResetMessageTextToDefault: text('passwordResetMessages'),
  resetCustomVerifyEmailMessageTextToDefault: text('verifyEmailMessages'),
  resetCustomDomainClaimedMessageTextToDefault: text('domainClaimedMessages'),
};

/** The names of the calls that delete records. */
export const removalCalls: readonly string[] = Object.keys(rows);

/** Deletes a record of an organisation. Returns the error if ZITADEL does not delete it. */
export function removeRecord(
  contents: Contents,
  call: string,
  message: JsonObject,
  { orgId, editorId }: { readonly orgId: string; readonly editorId: string },
): ClosingError | undefined {
  const { sections = [], fields = {} } = rows[call] ?? {};
  const isNamed = (json: JsonObject) =>
    Object.entries(fields).every(([name, path]) => textAt(json, path, orgId) === textAt(message, name, '')) &&
    (call !== 'removeUserGrant' || userGrantId(json) === message.grantId);
  for (const section of sections)
    for (const [key, { json }] of contents.organisations.get(orgId)?.sections.get(section) ?? []) {
      if (!isNamed(json)) continue;
      // Seen with 2.71 and 4.13.1.
      if (section === 'domains' && json.isPrimary === true) return [9, 'ORG-Sjdi3'];
      contents.organisations.get(orgId)?.sections.get(section)?.delete(key);
      if (call === 'removeUser') contents.users.delete(textAt(message, 'id', ''));
      contents.append(orgId, removalEvents(section, json, orgId), editorId);
      removeChildren(contents, section, json, { orgId, editorId });
      if (call === 'removeProjectRole') removeRoleFromGrants(contents, json, editorId);
      if (call === 'removeOrgIDP') removeProviderFromPolicy(contents, orgId, json.idpId);
      return undefined;
    }
  return [5, 'COMMAND-notFound'];
}

const ofUsers = {
  userMetadata: 'id',
  machineKeys: 'userId',
  userLinks: 'userId',
  orgMembers: 'userId',
  projectMembers: 'userId',
  projectGrantMembers: 'userId',
  userGrants: 'userId',
};
const ofApplications = { appKeys: 'appId' };
const ofProviders = { userLinks: 'idpId' };

/** The records that ZITADEL deletes together with a record: the path of the deleted record's id, by section. */
const children: Readonly<Record<string, { readonly id: string; readonly of: Readonly<Record<string, string>> }>> = {
  humanUsers: { id: 'userId', of: ofUsers },
  machineUsers: { id: 'userId', of: ofUsers },
  oidcIdps: { id: 'idpId', of: ofProviders },
  jwtIdps: { id: 'idpId', of: ofProviders },
  apiApps: { id: 'appId', of: ofApplications },
  oidcApps: { id: 'appId', of: ofApplications },
  projects: {
    id: 'projectId',
    of: {
      projectRoles: 'projectId',
      apiApps: 'app.projectId',
      oidcApps: 'app.projectId',
      appKeys: 'projectId',
      projectGrants: 'projectGrant.projectId',
      projectMembers: 'projectId',
      projectGrantMembers: 'projectId',
      userGrants: 'projectId',
    },
  },
  projectGrants: { id: 'grantId', of: { projectGrantMembers: 'grantId', userGrants: 'projectGrantId' } },
};

/** Deletes the records that ZITADEL deletes together with a record, in all organisations. */
function removeChildren(
  contents: Contents,
  parent: string,
  removed: JsonObject,
  { orgId: ownerId, editorId }: { readonly orgId: string; readonly editorId: string },
): void {
  const { id = '', of = {} } = children[parent] ?? {};
  for (const { orgId, sections } of contents.organisations.values())
    for (const [section, path] of Object.entries(of))
      for (const [key, { json }] of sections.get(section) ?? []) {
        if (textAt(json, path, orgId) !== textAt(removed, id, ownerId)) continue;
        sections.get(section)?.delete(key);
        contents.append(orgId, cascadeEvents(parent, section, json, orgId), editorId);
      }
}

function cascadeEvents(parent: string, section: string, json: JsonObject, orgId: string): EventDraft[] {
  const isMember = section.endsWith('Members') && parent.endsWith('Users');
  const isLink = section === 'userLinks' && parent.endsWith('Idps');
  if (!isMember && !isLink && section !== 'userGrants') return [];
  return creationEvents(section, json, orgId).map(({ payload = {}, ...event }) => ({
    ...event,
    type: event.type.replace(/[^.]+$/, 'cascade.removed'),
    // The event of a user grant has no payload.
    payload: section === 'userGrants' ? {} : payload,
  }));
}

function removalEvents(section: string, json: JsonObject, orgId: string): EventDraft[] {
  const [created] = creationEvents(section, json, orgId);
  if (created === undefined) return [];
  if (section === 'triggerActions') return [{ ...created, payload: { ...created.payload, actionIDs: [] } }];
  const type = created.aggregateType === 'user' && section.endsWith('Users') ? 'user.removed' : created.type;
  return [{ ...created, type: type.replace(/[^.]+$/, 'removed') }];
}

/** Removes a role from the grants of all organisations. */
function removeRoleFromGrants(contents: Contents, { projectId, roleKey }: JsonObject, editorId: string): void {
  for (const { orgId, sections } of contents.organisations.values()) {
    for (const [key, { json }] of sections.get('userGrants') ?? []) {
      const roles = textsAt(json, 'roleKeys[]', orgId);
      if (json.projectId !== projectId || !roles.includes(String(roleKey))) continue;
      const roleKeys = roles.filter((role) => role !== roleKey);
      contents.put(orgId, 'userGrants', key, { ...json, roleKeys });
      const aggregate = { aggregateType: 'usergrant', aggregateId: userGrantId(json) };
      contents.append(orgId, [{ ...aggregate, type: 'user.grant.cascade.changed', payload: { roleKeys } }], editorId);
    }
    for (const [key, { json }] of sections.get('projectGrants') ?? []) {
      const [grant = {}] = elements(json.projectGrant);
      const roles = textsAt(grant, 'roleKeys[]', orgId);
      if (grant.projectId !== projectId || !roles.includes(String(roleKey))) continue;
      const roleKeys = roles.filter((role) => role !== roleKey);
      contents.put(orgId, 'projectGrants', key, { ...json, projectGrant: { ...grant, roleKeys } });
      const aggregate = { aggregateType: 'project', aggregateId: String(projectId) };
      const payload = { grantId: json.grantId, roleKeys };
      contents.append(orgId, [{ ...aggregate, type: 'project.grant.cascade.changed', payload }], editorId);
    }
  }
}

/** Removes a provider from the login policy of its organisation. */
function removeProviderFromPolicy(contents: Contents, orgId: string, idpId: unknown): void {
  const policy = contents.find(orgId, 'loginPolicy', orgId);
  if (policy === undefined) return;
  const idps = elements(policy.idps).filter((provider) => provider.idpId !== idpId);
  contents.put(orgId, 'loginPolicy', orgId, { ...policy, idps });
}
