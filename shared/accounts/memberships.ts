import { isBlocked, isOrganisationBlocked, parseRoles } from '../auth/authorise.ts';
import { lastOwner, memberInvalid, roleNotHeld, rolesIncompatible, roleUnknown } from '../errors/commandErrors.ts';
import { parseObject, textAt } from '../json/jsonObject.ts';
import { InvalidRecordError } from '../organisation/message.ts';
import { newRecord } from '../organisation/newRecord.ts';
import { storedFields } from '../organisation/record.ts';
import { areCompatible, knownRoles, type MembershipScope } from '../organisation/roles.ts';
import { orgMemberSection } from '../organisation/sections/members.ts';
import type { DocumentFields } from '../store/documentFields.ts';
import { instanceMemberKey, organisationKey, organisationMemberKey, userKey } from '../store/documentKeys.ts';
import type { DocumentKey, Reader, Store, StoredDocument, Transaction, Write } from '../store/store.ts';
import { traceMemberRemoval } from './memberRemovals.ts';
import { forgetLastImport, holdOrganisation, holdUser, requireUser } from './userAccounts.ts';

export interface Membership {
  readonly userId: string;
  /** The id of the organisation; undefined for a membership in the instance. */
  readonly orgId: string | undefined;
}

export const INSTANCE_MEMBERS = 'instanceMembers';

export function createMember(membership: Membership, roles: readonly string[], now: Date): Write {
  const createdAt = now.toISOString();
  const fields = { ...memberFields(membership, roles, now), sequence: 1, createdAt, changedAt: createdAt };
  return { type: 'create', key: memberKey(membership), fields };
}

const OWNER = 'IAM_OWNER';

interface Owner {
  readonly userId: string;
  readonly orgId: string;
  /** False if the user's state or the state of the user's organisation blocks the user's tokens. */
  readonly isActive: boolean;
  /** The keys of the documents on which the user's role and tokens depend. */
  readonly keys: readonly DocumentKey[];
}

export async function instanceOwners(store: Pick<Store, 'snapshot'>): Promise<string[]> {
  await using snapshot = await store.snapshot();
  const ids: string[] = [];
  for await (const documents of snapshot.scan({ collection: 'members', partition: INSTANCE_MEMBERS })) {
    const owners = documents.filter((document) => parseRoles(document).includes(OWNER));
    ids.push(...owners.map(({ body }) => textAt(parseObject(body), 'userId', '')));
  }
  return ids;
}

export async function readOwners(store: Pick<Store, 'snapshot'>, reader: Reader): Promise<Owner[]> {
  const userIds = await instanceOwners(store);
  const members = await reader.getMany(userIds.map(instanceMemberKey), ['body']);
  const users = await reader.getMany(userIds.map(userKey), ['orgId', 'state']);
  const owners = userIds.flatMap((userId, index) => {
    const user = users[index];
    return user !== undefined && parseRoles(members[index]).includes(OWNER) ? [{ userId, user }] : [];
  });
  const organisations = await reader.getMany(
    owners.map(({ user }) => organisationKey(user.orgId ?? '')),
    ['state'],
  );
  return owners.map(({ userId, user: { orgId = '', state } }, index) => ({
    userId,
    orgId,
    isActive: !isBlocked(state) && !isOrganisationBlocked(organisations[index]?.state),
    keys: [instanceMemberKey(userId), userKey(userId), organisationKey(orgId)],
  }));
}

/**
 * Requires that another active IAM_OWNER remains after some owners lose this role or their tokens.
 * @param isLost returns whether an owner will lose the role or the tokens
 * @returns the keys of the documents that make a remaining owner active; these documents must not change before the
 * commit. Empty if no owner loses the role or the tokens
 * @throws IdentityError FAILED_PRECONDITION if no active owner remains
 */
export async function requireOtherOwner(
  store: Pick<Store, 'snapshot'>,
  reader: Reader,
  isLost: (owner: Owner) => boolean,
): Promise<readonly DocumentKey[]> {
  const owners = await readOwners(store, reader);
  const lost = owners.find(isLost);
  if (lost === undefined) return [];
  const remaining = owners.find((owner) => owner.isActive && !isLost(owner));
  if (remaining === undefined) throw lastOwner({ userId: lost.userId });
  return remaining.keys;
}

/**
 * If this user is an IAM_OWNER, requires that another active IAM_OWNER exists. The commit fails if the documents of
 * that other owner change before the commit. Call this function before the user loses the role or the tokens.
 * @throws IdentityError FAILED_PRECONDITION if no other active owner remains
 */
export async function holdOtherOwner(store: Store, transaction: Transaction, userId: string): Promise<void> {
  transaction.hold(await requireOtherOwner(store, transaction, (owner) => owner.userId === userId));
}

/**
 * Adds a role to a membership, or removes a role from it. Deletes the membership if no role remains.
 * @param force true to remove the role even from the last IAM_OWNER
 * @throws IdentityError NOT_FOUND if the user or the organisation is unknown, or if the user does not have the role to
 * remove; INVALID_ARGUMENT if the scope does not have this role, or if an import would reject the membership;
 * FAILED_PRECONDITION if the role is incompatible with the user's other roles, or if the last IAM_OWNER would lose the
 * role
 */
export function changeRole(
  store: Store,
  membership: Membership,
  role: string,
  change: 'add' | 'remove',
  now: Date,
  force = false,
): Promise<void> {
  return store.transaction(async (transaction) => {
    if (change === 'add') await holdUser(transaction, membership.userId);
    else await requireUser(transaction, membership.userId);
    const scope = checkRole(role, membership);
    if (membership.orgId !== undefined) await holdOrganisation(transaction, membership.orgId);
    const [stored] = await transaction.getMany([memberKey(membership)], ['body', 'sequence']);
    const held = parseRoles(stored);
    const isHeld = held.includes(role);
    if (change === 'remove' && !isHeld) throw roleNotHeld({ userId: membership.userId, role });
    const isOwner = role === OWNER && membership.orgId === undefined;
    if (change === 'remove' && isOwner && !force) await holdOtherOwner(store, transaction, membership.userId);
    // Write the role even if the user already has it. A running import then sees that the membership changed, and does
    // not overwrite the role.
    const roles = change === 'add' ? [...new Set([...held, role])] : held.filter((heldRole) => heldRole !== role);
    if (change === 'add' && !isHeld && !areCompatible(scope, roles))
      throw rolesIncompatible({ userId: membership.userId, role, held });
    if (roles.length === 0 && membership.orgId !== undefined) {
      await traceMemberRemoval(transaction, memberKey(membership));
      await forgetLastImport(transaction, [membership.orgId]);
    }
    transaction.write([memberWrite(membership, stored, roles, now)]);
  });
}

function memberWrite(
  membership: Membership,
  stored: StoredDocument | undefined,
  roles: readonly string[],
  now: Date,
): Write {
  const key = memberKey(membership);
  if (stored === undefined) return createMember(membership, roles, now);
  if (roles.length === 0) return { type: 'delete', key };
  const sequence = (stored.sequence ?? 1) + 1;
  return {
    type: 'update',
    key,
    fields: { ...memberFields(membership, roles, now), sequence, changedAt: now.toISOString() },
  };
}

function memberKey({ userId, orgId }: Membership): DocumentKey {
  return orgId === undefined ? instanceMemberKey(userId) : organisationMemberKey(orgId, userId);
}

function memberFields({ userId, orgId }: Membership, roles: readonly string[], now: Date): DocumentFields {
  if (orgId === undefined) return { partition: INSTANCE_MEMBERS, body: JSON.stringify({ userId, roles }) };
  try {
    return storedFields(newRecord(orgMemberSection, { userId, roles }, orgId, now));
  } catch (error) {
    throw error instanceof InvalidRecordError ? memberInvalid({ userId, problem: error.message }) : error;
  }
}

function checkRole(role: string, { orgId }: Membership): MembershipScope {
  const scope = orgId === undefined ? 'instance' : 'organisation';
  const fittingRoles = knownRoles(scope);
  if (!fittingRoles.includes(role))
    throw roleUnknown({
      role,
      place: scope === 'instance' ? 'the instance' : 'an organisation',
      fitting: fittingRoles,
    });
  return scope;
}
