export type MembershipScope = 'instance' | 'organisation' | 'project' | 'projectGrant';

/**
 * A permission of ZITADEL. This service requires `iam.write` for imports and for exports, because its interface
 * requires an IAM_OWNER for both (specification 5.2). ZITADEL's export requires only `iam.read`, although it returns
 * credentials.
 */
export type Permission = 'iam.write' | 'user.read' | 'user.write';

/**
 * The roles that ZITADEL defines by default, except system roles, with their permissions. A role gives its permissions
 * on the instance or organisation of the membership (zitadel 7.2). In this service, roles in projects and in project
 * grants give no permission to read or change users.
 */
const roles: ReadonlyMap<string, readonly Permission[]> = new Map([
  ['IAM_OWNER', ['iam.write', 'user.read', 'user.write']],
  ['IAM_OWNER_VIEWER', ['user.read']],
  ['IAM_ORG_MANAGER', ['user.read', 'user.write']],
  ['IAM_USER_MANAGER', ['user.read', 'user.write']],
  ['IAM_ADMIN_IMPERSONATOR', []],
  ['IAM_END_USER_IMPERSONATOR', []],
  ['IAM_LOGIN_CLIENT', ['user.read', 'user.write']],
  ['ORG_OWNER', ['user.read', 'user.write']],
  ['ORG_USER_MANAGER', ['user.read', 'user.write']],
  ['ORG_OWNER_VIEWER', ['user.read']],
  ['ORG_SETTINGS_MANAGER', []],
  ['ORG_USER_PERMISSION_EDITOR', ['user.read']],
  ['ORG_PROJECT_PERMISSION_EDITOR', ['user.read']],
  ['ORG_PROJECT_CREATOR', []],
  ['ORG_ADMIN_IMPERSONATOR', []],
  ['ORG_END_USER_IMPERSONATOR', []],
  ['ORG_USER_SELF_MANAGER', []],
  ['SELF_MANAGEMENT_GLOBAL', []],
  ['PROJECT_OWNER', []],
  ['PROJECT_OWNER_VIEWER', []],
  ['PROJECT_OWNER_GLOBAL', []],
  ['PROJECT_OWNER_VIEWER_GLOBAL', []],
  ['PROJECT_GRANT_OWNER', []],
  ['PROJECT_GRANT_OWNER_VIEWER', []],
]);

/**
 * For each scope, the prefixes of the names of its roles. All roles of one member must have the same prefix, as in
 * ZITADEL.
 */
const rolePrefixes: Readonly<Record<MembershipScope, readonly string[]>> = {
  instance: ['IAM'],
  organisation: ['ORG', 'SELF_MANAGEMENT_GLOBAL'],
  project: ['PROJECT'],
  projectGrant: ['PROJECT_GRANT'],
};

export function knownRoles(scope: MembershipScope): readonly string[] {
  return [...roles.keys()].filter((role) => areCompatible(scope, [role]));
}

/** True if all roles in `held` exist in the scope, and one member can have all of them. */
export function areCompatible(scope: MembershipScope, held: readonly unknown[]): boolean {
  const allBegin = (prefix: string) =>
    held.every((role) => typeof role === 'string' && roles.has(role) && role.startsWith(prefix));
  return rolePrefixes[scope].some(allBegin);
}

export function grants(held: readonly string[], permission: Permission): boolean {
  return held.some((role) => roles.get(role)?.includes(permission));
}
