import { z } from 'zod';
import { instanceMemberKey, isInstanceRole, knownRoles, organisationMemberKey, parseRoles } from '../auth/authorise.ts';
import { roleNotHeld, roleUnknown } from '../errors/accountErrors.ts';
import { readRecord } from '../organisation/record.ts';
import { createWrites, planRecord } from '../organisation/recordPlan.ts';
import { orgMemberSection } from '../organisation/sections/members.ts';
import type { DocumentKey, Store, Write } from '../store/store.ts';

/** A user's membership on the instance or in an organisation. */
export interface Membership {
  readonly userId: string;
  /** The organisation; undefined for the instance. */
  readonly orgId: string | undefined;
}

const INSTANCE_MEMBERS = 'instanceMembers';
const memberSchema = z.object({ userId: z.string() });

/** Builds the write that creates a user's membership on the instance. */
export function instanceMemberWrite(userId: string, roles: readonly string[]): Write {
  const body = JSON.stringify({ userId, roles });
  return { type: 'create', key: instanceMemberKey(userId), fields: { partition: INSTANCE_MEMBERS, body } };
}

/** Lists the ids of the users who hold a role on the instance. */
export async function instanceMembers(store: Store, role: string): Promise<string[]> {
  await using snapshot = await store.snapshot();
  const ids: string[] = [];
  for await (const documents of snapshot.scan({ collection: 'members', partition: INSTANCE_MEMBERS })) {
    const members = documents.filter((document) => parseRoles(document).includes(role));
    ids.push(...members.map(({ body = '{}' }) => memberSchema.parse(JSON.parse(body)).userId));
  }
  return ids;
}

/**
 * Adds a role to a membership or removes it, and deletes a membership without roles.
 * @throws IdentityError for a role that is unknown there, or not held when it is removed
 */
export function changeRole(store: Store, membership: Membership, role: string, change: 'add' | 'remove', now: Date) {
  checkRole(role, membership.orgId);
  const key = memberKey(membership);
  return store.transaction(async (transaction) => {
    const [stored] = await transaction.getMany([key]);
    const held = parseRoles(stored);
    if (change === 'remove' && !held.includes(role)) throw roleNotHeld(membership.userId, role);
    const roles = held.filter((other) => other !== role);
    if (change === 'add') roles.push(role);
    transaction.write([
      ...(stored === undefined ? [] : [{ type: 'delete', key } as const]),
      ...(roles.length === 0 ? [] : memberWrites(membership, roles, now)),
    ]);
  });
}

function memberKey({ userId, orgId }: Membership): DocumentKey {
  return orgId === undefined ? instanceMemberKey(userId) : organisationMemberKey(orgId, userId);
}

function memberWrites({ userId, orgId }: Membership, roles: readonly string[], now: Date): Write[] {
  if (orgId === undefined) return [instanceMemberWrite(userId, roles)];
  const record = readRecord(orgMemberSection, { userId, roles }, orgId);
  return createWrites(planRecord(record, false), now.toISOString());
}

function checkRole(role: string, orgId: string | undefined): void {
  const allowed = knownRoles.filter((known) => isInstanceRole(known) === (orgId === undefined));
  if (allowed.includes(role)) return;
  throw roleUnknown(role, orgId === undefined ? 'the instance' : 'an organisation', allowed);
}
