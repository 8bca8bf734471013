import { z } from 'zod';
import { instanceMemberKey, isInstanceRole, knownRoles, organisationMemberKey, parseRoles } from '../auth/authorise.ts';
import { roleNotHeld, roleUnknown } from '../errors/accountErrors.ts';
import { readRecord } from '../organisation/record.ts';
import { createWrites, planRecord } from '../organisation/recordPlan.ts';
import { orgMemberSection } from '../organisation/sections/members.ts';
import type { DocumentKey, Store, Write } from '../store/store.ts';

/** Where a membership is: on the instance, or on an organisation. */
export interface Membership {
  readonly userId: string;
  readonly orgId: string | undefined;
}

const INSTANCE_MEMBERS = 'instanceMembers';
const memberSchema = z.object({ userId: z.string() });

/** The write that gives a user roles on the instance. */
export function instanceMemberWrite(userId: string, roles: readonly string[]): Write {
  const body = JSON.stringify({ userId, roles });
  return { type: 'create', key: instanceMemberKey(userId), fields: { partition: INSTANCE_MEMBERS, body } };
}

/** The ids of the users who hold a role on the instance. */
export async function instanceMembers(store: Store, role: string): Promise<string[]> {
  await using snapshot = await store.snapshot();
  const ids: string[] = [];
  for await (const documents of snapshot.scan({ collection: 'members', partition: INSTANCE_MEMBERS })) {
    const members = documents.filter((document) => parseRoles(document).includes(role));
    ids.push(...members.map(({ body = '{}' }) => memberSchema.parse(JSON.parse(body)).userId));
  }
  return ids;
}

/** Adds a role to a user's membership, or takes it away; a membership without roles is removed. */
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
  const fitting = knownRoles.filter((known) => isInstanceRole(known) === (orgId === undefined));
  if (fitting.includes(role)) return;
  throw roleUnknown(role, orgId === undefined ? 'the instance' : 'an organisation', fitting);
}
