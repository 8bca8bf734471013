import { z } from 'zod';
import { operationDenied, userDenied } from '../errors/errors.ts';
import type { IdentityError } from '../errors/identityError.ts';
import type { DocumentKey, StoredDocument } from '../store/store.ts';
import type { Caller } from './authenticate.ts';
import { instanceMemberKey, organisationMemberKey } from './memberKeys.ts';
import { grants, type Permission } from './roles.ts';

/** What `authorise` reads with: the store, or a transaction of it. */
interface Reader {
  getMany(keys: readonly DocumentKey[]): Promise<(StoredDocument | undefined)[]>;
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
  if (!memberships.some((membership) => grants(rolesOf(membership), permission))) throw refusals[permission]();
}

/** The roles that a stored membership gives. */
export function rolesOf(membership: StoredDocument | undefined): readonly string[] {
  return membership?.body === undefined ? [] : memberSchema.parse(JSON.parse(membership.body)).roles;
}
