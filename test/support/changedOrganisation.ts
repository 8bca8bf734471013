import { isJsonObject } from '../../shared/json/jsonObject.ts';
import type { Organisation } from './zitadelFixture.ts';

const text = { text: 'changed' };
/** Another value for a field of every section's records. */
export const changes: Record<string, object> = {
  org: { name: 'changed' },
  domainPolicy: { validateOrgDomains: true },
  labelPolicy: { disableWatermark: false },
  lockoutPolicy: { maxPasswordAttempts: 9 },
  loginPolicy: { forceMfa: false },
  passwordComplexityPolicy: { minLength: '11' },
  privacyPolicy: { customLinkText: 'changed' },
  projects: { project: { privateLabelingSetting: 'PRIVATE_LABELING_SETTING_ALLOW_LOGIN_USER_RESOURCE_OWNER_POLICY' } },
  projectRoles: { displayName: 'changed' },
  apiApps: { app: { name: 'changed' } },
  oidcApps: { app: { name: 'changed' } },
  humanUsers: { user: { profile: { nickName: 'changed' } } },
  machineUsers: { user: { description: 'changed' } },
  triggerActions: { actionIds: ['330000000000000501', '330000000000000501'] },
  actions: { action: { timeout: '1s' } },
  projectGrants: { projectGrant: { roleKeys: ['viewer'] } },
  userGrants: { roleKeys: [] },
  orgMembers: { roles: ['ORG_USER_PERMISSION_EDITOR'] },
  projectMembers: { roles: ['changed'] },
  projectGrantMembers: { roles: ['changed'] },
  userMetadata: { value: 'Y2hhbmdlZA==' },
  loginTexts: { loginText: { title: 'changed' } },
  initMessages: text,
  passwordResetMessages: text,
  verifyEmailMessages: text,
  verifyPhoneMessages: text,
  domainClaimedMessages: text,
  passwordlessRegistrationMessages: text,
  oidcIdps: { idp: { autoRegister: false } },
  jwtIdps: { idp: { headerName: 'changed' } },
  userLinks: { providedUserName: 'changed' },
  domains: { validationType: 'DOMAIN_VALIDATION_TYPE_DNS' },
  appKeys: { expirationDate: '2034-01-01T00:00:00Z' },
  machineKeys: { expirationDate: '2034-01-01T00:00:00Z' },
  verifySmsOtpMessages: text,
  verifyEmailOtpMessages: text,
  inviteUserMessages: text,
};

/** The one grant of a user that has no roles gets one that its project has. */
function otherRoles(name: string, part: unknown): object {
  return name === 'userGrants' && isJsonObject(part) && part.roleKeys === undefined ? { roleKeys: ['ops'] } : {};
}

/** The organisation with another value in every one of its records. */
export function changed(org: Organisation): Organisation {
  const fields = Object.entries(org).map(([name, value]): [string, unknown] => {
    const change = changes[name];
    if (change === undefined) return [name, value];
    const one = name === 'org' ? { name: `changed ${org.orgId}` } : change;
    return [
      name,
      Array.isArray(value)
        ? value.map((part) => merged(part, { ...one, ...otherRoles(name, part) }))
        : merged(value, one),
    ];
  });
  return { orgId: org.orgId, ...Object.fromEntries(fields) };
}

function merged(value: unknown, change: object): unknown {
  if (!isJsonObject(value)) return change;
  const parts = Object.entries(change).map(([name, part]: [string, unknown]): [string, unknown] => [
    name,
    isJsonObject(part) ? merged(value[name], part) : part,
  ]);
  return { ...value, ...Object.fromEntries(parts) };
}
