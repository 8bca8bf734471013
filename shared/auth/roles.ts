import type { DocumentKey } from '../store/store.ts';
import { documentId } from '../store/store.ts';

/**
 * What a caller may be allowed to do. Export and import need `iam.write`, though ZITADEL's export is content with
 * `iam.read`: an export hands out credentials, and the interface (5.2) asks for the IAM Owner on both sides.
 */
export type Permission = 'iam.write' | 'user.write';

/** The roles that hold permissions here, as ZITADEL's defaults have them (contract 7.2). Other roles are kept, and hold none. */
const roles: ReadonlyMap<string, readonly Permission[]> = new Map([
  ['IAM_OWNER', ['iam.write', 'user.write']],
  ['IAM_ORG_MANAGER', ['user.write']],
  ['IAM_USER_MANAGER', ['user.write']],
  ['IAM_LOGIN_CLIENT', ['user.write']],
  ['ORG_OWNER', ['user.write']],
  ['ORG_USER_MANAGER', ['user.write']],
]);

/** Roles that are given on the instance; all others are given on an organisation. */
export function isInstanceRole(role: string): boolean {
  return role.startsWith('IAM_');
}

/** Whether any of `held` grants `permission`. */
export function grants(held: readonly string[], permission: Permission): boolean {
  return held.some((role) => roles.get(role)?.includes(permission));
}

/** The names of all roles that grant something here. */
export const knownRoles: readonly string[] = [...roles.keys()];

/** Where a user's roles on the instance are stored. They are not part of any organisation, so no export has them. */
export function instanceMemberKey(userId: string): DocumentKey {
  return { collection: 'members', id: documentId('instance', userId) };
}

/** Where a user's roles on an organisation are stored: a record of the section `orgMembers`. */
export function organisationMemberKey(orgId: string, userId: string): DocumentKey {
  return { collection: 'members', id: documentId('organisation', orgId, userId) };
}

/** Where a user, person or service user, is stored. */
export function userKey(userId: string): DocumentKey {
  return { collection: 'users', id: documentId(userId) };
}
