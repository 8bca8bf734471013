import { instanceMemberKey, userKey } from '../auth/memberKeys.ts';
import { tokenKey } from '../auth/token.ts';
import { organisationSection } from '../contract/sections.ts';
import { notServiceUser, organisationUnknown, userNameTaken } from '../errors/accountErrors.ts';
import { defaultOrganisation } from '../instance.ts';
import { documentId } from '../store/documentId.ts';
import { type Store, WriteConflict } from '../store/store.ts';
import { existingUser } from './existingUser.ts';
import { loginNamesByDomain } from './loginNames.ts';
import { listTokens } from './personalAccessToken.ts';
import { recordsReferringTo } from './userRecords.ts';
import { newId, serviceUserWrites, userClaims } from './users.ts';

/**
 * Makes a service user.
 * @param orgId its organisation; the default organisation where none is given
 * @returns its id
 * @throws IdentityError NOT_FOUND for an unknown organisation, ALREADY_EXISTS for a user name that is taken
 */
export async function createServiceUser(
  store: Store,
  name: string,
  orgId: string | undefined,
  now: Date,
): Promise<string> {
  const userId = newId();
  const owner = await existingOrganisation(store, orgId ?? (await defaultOrganisation(store)));
  try {
    const byDomain = await loginNamesByDomain(store, owner);
    await store.commit(serviceUserWrites(userId, owner, name, now, byDomain));
  } catch (error) {
    if (error instanceof WriteConflict) throw userNameTaken(name);
    throw error;
  }
  return userId;
}

/**
 * Deletes a service user with its name, its tokens, its memberships and what else refers to it.
 * @throws IdentityError NOT_FOUND for an unknown user, FAILED_PRECONDITION for a person
 */
export async function deleteServiceUser(store: Store, userId: string): Promise<void> {
  const user = await existingUser(store, userId, ['orgId', 'partition', 'body']);
  if (!user.partition?.startsWith('machineUsers/')) throw notServiceUser(userId);
  const tokens = await listTokens(store, userId);
  const keys = [
    userKey(userId),
    ...(await userClaims(store, user)),
    instanceMemberKey(userId),
    ...tokens.map(({ tokenId }) => tokenKey(tokenId)),
    ...(await recordsReferringTo(store, userId, user.orgId ?? '')),
  ];
  await store.commit(keys.map((key) => ({ type: 'delete', key })));
}

async function existingOrganisation(store: Store, orgId: string): Promise<string> {
  const [found] = await store.getMany(
    [{ collection: organisationSection.collection, id: documentId(orgId) }],
    ['orgId'],
  );
  if (found === undefined) throw organisationUnknown(orgId);
  return orgId;
}
