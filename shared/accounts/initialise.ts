import { instanceInitialised } from '../errors/commandErrors.ts';
import { defaultScopeWrite } from '../organisation/loginNameScope.ts';
import { createWrites } from '../organisation/recordPlan.ts';
import { instanceKey, type NewInstance, newInstanceBody } from '../store/instance.ts';
import { type Store, WriteConflictError } from '../store/store.ts';
import { createMember } from './memberships.ts';
import { createPersonalAccessToken } from './personalAccessTokens.ts';
import { generateId, organisationWrites, planServiceUser } from './userAccounts.ts';

/** The ids and the first token of a new instance. */
export interface Initialised {
  readonly orgId: string;
  readonly userId: string;
  readonly tokenId: string;
  readonly token: string;
  readonly expiresAt: string;
}

/**
 * Initialises an instance: creates the default organisation, an IAM_OWNER service user and its token in one commit
 * (specification 5.3).
 * @param instance the instance's name is also the name of the organisation, and the prefix of the user's name. With
 * distinct names of two instances, these records do not collide when one instance imports the other's records
 * @throws IdentityError if the instance is already initialised
 */
export async function initialise(
  store: Store,
  instance: NewInstance,
  lifetimeMs: number,
  now: Date,
): Promise<Initialised> {
  const { name, loginNamesByDomain = false } = instance;
  const orgId = generateId();
  const userId = generateId();
  const owner = planServiceUser({ userId, orgId, name: `${name}-owner` }, loginNamesByDomain, now);
  const { created, write } = createPersonalAccessToken({ userId, orgId }, now, lifetimeMs);
  try {
    await store.commit([
      {
        type: 'create',
        key: instanceKey,
        fields: { orgId, body: newInstanceBody(instance), createdAt: now.toISOString() },
      },
      ...organisationWrites(orgId, name, now),
      defaultScopeWrite(orgId),
      ...createWrites(owner, now.toISOString()),
      createMember({ userId, orgId: undefined }, ['IAM_OWNER'], now),
      write,
    ]);
  } catch (error) {
    if (!(error instanceof WriteConflictError)) throw error;
    throw instanceInitialised();
  }
  return { orgId, userId, ...created };
}
