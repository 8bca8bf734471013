import { createMember } from '../../shared/accounts/memberships.ts';
import { createPersonalAccessToken, type NewToken } from '../../shared/accounts/personalAccessTokens.ts';
import {
  generateId,
  holdOrganisation,
  type NewServiceUser,
  planServiceUser,
  requireUser,
} from '../../shared/accounts/userAccounts.ts';
import { deleteUser, type UserDeletion } from '../../shared/accounts/userRemoval.ts';
import type { Operation } from '../../shared/auth/token.ts';
import { notServiceUser, userNameTaken } from '../../shared/errors/commandErrors.ts';
import { defaultScopeWrite, readLoginNameScopes, scopeKey } from '../../shared/organisation/loginNameScope.ts';
import { createWrites } from '../../shared/organisation/recordPlan.ts';
import { isInSection } from '../../shared/organisation/sections/section.ts';
import { isInDeletion, machineUserSection } from '../../shared/organisation/sections/users.ts';
import { describeInstance, readDefaultOrganisation } from '../../shared/store/instance.ts';
import type { Reader, Store, StoredDocument, Transaction } from '../../shared/store/store.ts';

/**
 * Creates a service user.
 * @param orgId the organisation to which the user will belong; if undefined, the user belongs to the instance's default
 * organisation
 * @returns the user's id
 * @throws IdentityError NOT_FOUND for an unknown organisation, ALREADY_EXISTS if another user already has the name
 */
export function createServiceUser(store: Store, name: string, orgId: string | undefined, now: Date): Promise<string> {
  const userId = generateId();
  return store.transaction(async (transaction) => {
    await addServiceUser(transaction, { userId, name, orgId }, now);
    return userId;
  });
}

/**
 * The prefix of the ids of service users for migrations. If the id of the token's user has this prefix, the migration
 * lists the deletion of the user as a manual step.
 */
const MIGRATION_USER = 'migration-';

export function isMigrationUser(userId: string): boolean {
  return userId.startsWith(MIGRATION_USER);
}

/**
 * Creates a service user for a migration in the default organisation. One commit adds the user, the role IAM_OWNER and
 * a token.
 * @param operations the operations that the token permits
 */
export function createMigrationUser(
  store: Store,
  operations: readonly Operation[],
  lifetimeMs: number,
  now: Date,
): Promise<NewToken & { readonly userId: string }> {
  const userId = `${MIGRATION_USER}${generateId()}`;
  return store.transaction(async (transaction) => {
    const orgId = await addServiceUser(transaction, { userId, name: userId, orgId: undefined }, now);
    const { created, write } = createPersonalAccessToken({ userId, orgId }, now, lifetimeMs, { operations });
    transaction.write([createMember({ userId, orgId: undefined }, ['IAM_OWNER'], now), write]);
    return { userId, ...created };
  });
}

/**
 * Adds the creation of a service user to a transaction. Without `orgId`, the user belongs to the default organisation.
 * @returns the id of the user's organisation
 */
async function addServiceUser(
  transaction: Transaction,
  user: Omit<NewServiceUser, 'orgId'> & { readonly orgId: string | undefined },
  now: Date,
): Promise<string> {
  const orgId = user.orgId ?? (await readDefaultOrganisation(transaction));
  await holdOrganisation(transaction, orgId);
  const plan = planServiceUser({ ...user, orgId }, await claimLoginNames(transaction, orgId), now);
  const holders = await transaction.getMany(
    plan.claims.map(({ key }) => key),
    [],
  );
  if (holders.some((holder) => holder !== undefined)) throw userNameTaken({ name: user.name });
  transaction.write(createWrites(plan, now.toISOString()));
  return orgId;
}

/**
 * Returns whether the login names of an organisation's users end with the organisation's domain (see zitadel 3.4). If
 * the database does not contain the answer yet, permanently stores the instance's default for this organisation.
 */
async function claimLoginNames(transaction: Transaction, orgId: string): Promise<boolean> {
  const { loginNamesByDomain: byDefault } = await describeInstance(transaction);
  const [byDomain] = await readLoginNameScopes(transaction, [orgId], byDefault);
  if (byDomain === undefined) transaction.write([defaultScopeWrite(orgId)]);
  else transaction.hold([scopeKey(orgId)]);
  return byDomain ?? byDefault;
}

/**
 * Deletes a service user (see `deleteUser`).
 * @throws IdentityError NOT_FOUND for an unknown user, FAILED_PRECONDITION for a person and for the last IAM_OWNER
 */
export function deleteServiceUser(
  store: Store,
  userId: string,
  options: Omit<UserDeletion, 'readUser'> = {},
): Promise<void> {
  return deleteUser(store, userId, { ...options, readUser: requireServiceUser });
}

/**
 * Reads a service user, even if its deletion has begun.
 * @throws IdentityError NOT_FOUND for an unknown user, FAILED_PRECONDITION for a person
 */
export async function requireServiceUser(reader: Reader, userId: string): Promise<StoredDocument> {
  const user = await requireUser(reader, userId, ['orgId', 'partition']);
  if (!isInDeletion(user) && !isInSection(user.partition, machineUserSection)) throw notServiceUser({ userId });
  return user;
}
