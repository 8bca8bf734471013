import { z } from 'zod';
import {
  authHeaderInvalid,
  authHeaderMissing,
  operationDenied,
  organisationInactive,
  tokenExpired,
  tokenForOtherOperation,
  tokenInvalid,
  tokenNotFound,
  tokenUserInactive,
  userDenied,
} from '../errors/errors.ts';
import type { IdentityError } from '../errors/identityError.ts';
import { grants, type Permission } from '../organisation/roles.ts';
import type { FieldName } from '../store/documentFields.ts';
import { instanceMemberKey, organisationKey, organisationMemberKey, userKey } from '../store/documentKeys.ts';
import type { Reader, StoredDocument } from '../store/store.ts';
import { isWellFormed, matchesDigest, type Operation, operations, tokenId, tokenKey } from './token.ts';

interface TokenCaller {
  readonly userId: string;
  readonly tokenId: string;
  readonly orgId: string;
  /** The partition of the user's document, which differs between people and service users. */
  readonly partition: string;
  readonly account?: undefined;
}

/**
 * The operator of a database. The operator's command accesses the database in its own process, so it needs no token.
 */
interface Operator {
  readonly account: string;
  readonly userId?: undefined;
  readonly orgId?: undefined;
}

export type Caller = TokenCaller | Operator;

/**
 * A user's tokens are invalid while the user is in one of these states (zitadel 6.5). They become valid again when the
 * user leaves the state.
 */
const blockedStates: ReadonlySet<string> = new Set([
  'USER_STATE_INACTIVE',
  'USER_STATE_LOCKED',
  'USER_STATE_SUSPEND',
  'USER_STATE_DELETED',
]);

const blockedOrganisationStates: ReadonlySet<string> = new Set(['ORG_STATE_INACTIVE', 'ORG_STATE_REMOVED']);

export function isBlocked(state: string | undefined): boolean {
  return blockedStates.has(state ?? '');
}

export function isOrganisationBlocked(state: string | undefined): boolean {
  return blockedOrganisationStates.has(state ?? '');
}

// Do not create these lists for each call, because the embedded database prepares one statement for each list.
const tokenFields: readonly FieldName[] = ['digest', 'ownerId', 'orgId', 'expiresAt', 'body'];
const callerFields: readonly FieldName[] = ['state', 'orgId', 'partition'];
const readMemberFields: readonly FieldName[] = ['body'];

/** Called after authentication, before the permission is checked. */
export type OnIdentified = (who: Pick<TokenCaller, 'userId' | 'tokenId'> | Operator) => void;

export type Authenticate = (
  store: Reader,
  authorization: string | undefined,
  operation: Operation,
  now: Date,
  onIdentified?: OnIdentified,
) => Promise<Caller>;

export function asOperator(account: string): Authenticate {
  return async (_store, _authorization, _operation, _now, onIdentified) => {
    onIdentified?.({ account });
    return { account };
  };
}

/**
 * Authenticates the caller by the token in the Authorization header (specification 5.1, zitadel 6.5).
 * @throws IdentityError UNAUTHENTICATED if the token is missing or invalid; PERMISSION_DENIED if the user's
 * organisation is inactive or removed, or if the token is restricted to other operations
 */
export async function authenticate(
  store: Reader,
  authorization: string | undefined,
  operation: Operation,
  now: Date,
  onIdentified: OnIdentified = () => {},
): Promise<TokenCaller> {
  if (authorization === undefined || authorization === '') throw authHeaderMissing();
  if (!authorization.startsWith('Bearer ')) throw authHeaderInvalid();
  const token = authorization.slice('Bearer '.length);
  if (!isWellFormed(token)) throw tokenInvalid();
  const id = tokenId(token);
  const [stored] = await store.getMany([tokenKey(id)], tokenFields);
  if (stored?.digest === undefined || stored.ownerId === undefined) throw tokenNotFound();
  if (!matchesDigest(token, stored.digest)) throw tokenNotFound();
  onIdentified({ userId: stored.ownerId, tokenId: id });
  if (stored.expiresAt !== undefined && Date.parse(stored.expiresAt) <= now.getTime()) throw tokenExpired();
  const { user, organisation } = await readOwner(store, stored.ownerId, stored.orgId);
  if (user === undefined || isBlocked(user.state)) throw tokenUserInactive();
  if (isOrganisationBlocked(organisation?.state)) throw organisationInactive();
  checkOperation(parseRestriction(stored.body), operation);
  const { orgId = '', partition = '' } = user;
  return { userId: stored.ownerId, tokenId: id, orgId, partition };
}

/**
 * Reads a token's user and, in parallel, the organisation to which the user belonged when the token was created. If the
 * user now belongs to another organisation, because the user was deleted and created again, then reads that
 * organisation.
 * @param tokenOrgId the id of the organisation when the token was created
 */
async function readOwner(store: Reader, userId: string, tokenOrgId = ''): Promise<Owner> {
  const [user, organisation] = await store.getMany([userKey(userId), organisationKey(tokenOrgId)], callerFields);
  const { orgId = '' } = user ?? {};
  if (user === undefined || orgId === tokenOrgId) return { user, organisation };
  const [present] = await store.getMany([organisationKey(orgId)], callerFields);
  return { user, organisation: present };
}

interface Owner {
  readonly user: StoredDocument | undefined;
  readonly organisation: StoredDocument | undefined;
}

const deniedErrors: Readonly<Record<Permission, () => IdentityError>> = {
  'iam.write': operationDenied,
  'user.read': userDenied,
  'user.write': userDenied,
};

const memberSchema = z.object({ roles: z.array(z.string()).default([]) });

/**
 * Requires that the caller has a permission. An operator has all permissions.
 * @throws IdentityError PERMISSION_DENIED if the caller lacks the permission
 */
export async function authorise(reader: Reader, caller: Caller, permission: Permission): Promise<void> {
  if (caller.account !== undefined) return;
  const [membership] = await reader.getMany([instanceMemberKey(caller.userId)], readMemberFields);
  if (!permits(membership, permission)) throw deniedErrors[permission]();
}

function permits(membership: StoredDocument | undefined, permission: Permission): boolean {
  return grants(parseRoles(membership), permission);
}

/**
 * Reads a user. The caller must be this user, or must have the permission on the user's organisation or on the
 * instance. Reads the user and the caller's memberships in parallel, because most callers belong to the user's
 * organisation.
 * @param fields the fields to read. They must include `orgId`, and `body`, which contains the roles of a membership
 * @returns undefined if the user does not exist
 * @throws IdentityError PERMISSION_DENIED if the caller lacks the permission, whether or not the user exists
 */
export async function readUserAs(
  reader: Reader,
  caller: Caller,
  permission: Permission,
  userId: string,
  fields: readonly FieldName[],
): Promise<StoredDocument | undefined> {
  const key = userKey(userId);
  if (caller.account !== undefined || caller.userId === userId) {
    const [user] = await reader.getMany([key], fields);
    return user;
  }
  const memberKeys = [instanceMemberKey(caller.userId), organisationMemberKey(caller.orgId, caller.userId)];
  const [user, onInstance, onOwn] = await reader.getMany([key, ...memberKeys], fields);
  if (permits(onInstance, permission)) return user;
  if (user?.orgId === caller.orgId && permits(onOwn, permission)) return user;
  if (user?.orgId !== undefined && user.orgId !== caller.orgId) {
    const [onOther] = await reader.getMany([organisationMemberKey(user.orgId, caller.userId)], fields);
    if (permits(onOther, permission)) return user;
  }
  throw deniedErrors[permission]();
}

export function parseRoles(membership: StoredDocument | undefined): readonly string[] {
  return membership?.body === undefined ? [] : memberSchema.parse(JSON.parse(membership.body)).roles;
}

const restrictionSchema = z.strictObject({
  /** Undefined if the token permits all operations. */
  operations: z.array(z.enum(operations)).min(1).readonly().optional(),
});

/**
 * The operations to which a token is restricted. If it has no fields, the token permits everything that its user may
 * do.
 */
export type TokenRestriction = Readonly<z.output<typeof restrictionSchema>>;

/** An unrestricted token is stored without `body`. */
export function parseRestriction(body: string | undefined): TokenRestriction {
  return body === undefined ? {} : restrictionSchema.parse(JSON.parse(body));
}

function checkOperation({ operations: valid }: TokenRestriction, requested: Operation): void {
  if (valid !== undefined && !valid.includes(requested)) throw tokenForOtherOperation({ only: valid, requested });
}
