import { z } from 'zod';
import { authHeaderInvalid, authHeaderMissing, operationDenied, tokenInvalid, userDenied } from '../errors/errors.ts';
import type { IdentityError } from '../errors/identityError.ts';
import { type DocumentKey, documentId, type Reader, type Store, type StoredDocument } from '../store/store.ts';
import { isWellFormed, matchesDigest, tokenId, tokenKey } from './token.ts';

/** Who calls: a person or a service user whose token is valid now. */
export interface Caller {
  readonly userId: string;
}

/** States in which a user's tokens are refused (zitadel 6.5); they are valid again when the state ends. */
const refusedStates: ReadonlySet<string> = new Set([
  'USER_STATE_INACTIVE',
  'USER_STATE_LOCKED',
  'USER_STATE_SUSPEND',
  'USER_STATE_DELETED',
]);

/**
 * Finds the caller by the Authorization header (specification 5.1, zitadel 6.5).
 * @throws IdentityError UNAUTHENTICATED
 */
export async function authenticate(store: Store, authorization: string | undefined, now: Date): Promise<Caller> {
  if (authorization === undefined || authorization === '') throw authHeaderMissing();
  if (!authorization.startsWith('Bearer ')) throw authHeaderInvalid();
  const token = authorization.slice('Bearer '.length);
  if (!isWellFormed(token)) throw tokenInvalid();
  const [stored] = await store.getMany([tokenKey(tokenId(token))]);
  if (stored?.digest === undefined || stored.ownerId === undefined) throw tokenInvalid();
  if (!matchesDigest(token, stored.digest)) throw tokenInvalid();
  if (stored.expiresAt !== undefined && Date.parse(stored.expiresAt) <= now.getTime()) throw tokenInvalid();
  const [user] = await store.getMany([userKey(stored.ownerId)], ['state']);
  if (user === undefined || refusedStates.has(user.state ?? '')) throw tokenInvalid();
  return { userId: stored.ownerId };
}

/** How a caller without the permission is refused. */
const refusals: Readonly<Record<Permission, () => IdentityError>> = {
  'iam.write': operationDenied,
  'user.write': userDenied,
};

const memberSchema = z.object({ roles: z.array(z.string()).default([]) });

/**
 * Checks that the caller holds a permission on the instance or, where `orgId` is given, on that organisation.
 * @throws IdentityError PERMISSION_DENIED
 */
export async function authorise(reader: Reader, caller: Caller, permission: Permission, orgId?: string): Promise<void> {
  const keys = [instanceMemberKey(caller.userId)];
  if (orgId !== undefined) keys.push(organisationMemberKey(orgId, caller.userId));
  const memberships = await reader.getMany(keys);
  if (!memberships.some((membership) => grants(parseRoles(membership), permission))) throw refusals[permission]();
}

/** The roles that a stored membership gives. */
export function parseRoles(membership: StoredDocument | undefined): readonly string[] {
  return membership?.body === undefined ? [] : memberSchema.parse(JSON.parse(membership.body)).roles;
}

/**
 * Admits a request by its Authorization header: its caller must hold a permission on the instance (specification 5,
 * zitadel 6.5). To be called before anything else of the request is looked at, so that nobody else learns from it.
 * @throws IdentityError UNAUTHENTICATED, PERMISSION_DENIED
 */
export async function requirePermission(
  store: Store,
  authorization: string | undefined,
  permission: Permission,
  now: Date,
): Promise<void> {
  const caller = await authenticate(store, authorization, now);
  await authorise(store, caller, permission);
}

/**
 * What a caller may be allowed to do. Export and import need `iam.write`, though ZITADEL's export is content with
 * `iam.read`: an export hands out credentials, and the interface (specification 5.2) asks for the IAM Owner on both
 * sides.
 */
export type Permission = 'iam.write' | 'user.write';

/**
 * The roles that hold permissions here, as ZITADEL's defaults have them (zitadel 7.2). Other roles are kept, and hold
 * none.
 */
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
