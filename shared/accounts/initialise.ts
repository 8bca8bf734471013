import { instanceInitialised } from '../errors/commandErrors.ts';
import { defaultScopeWrite } from '../organisation/loginNameScope.ts';
import { createWrites } from '../organisation/recordPlan.ts';
import { instanceKey, type NewInstance, newInstanceBody } from '../store/instance.ts';
import { type Store, WriteConflictError } from '../store/store.ts';
import { createMember } from './memberships.ts';
import { createPersonalAccessToken } from './personalAccessTokens.ts';
import { generateId, organisationWrites, planServiceUser } from './userAccounts.ts';

export interface Initialised {
  readonly orgId: string;
  readonly userId: string;
  readonly tokenId: string;
  readonly token: string;
  readonly expiresAt: string;
}

/**
 * Creates the default organisation, a service user with the role IAM_OWNER, and a token of that user in one commit
 * (specification 5.3). The user's name begins with the instance's name. So it does not collide with a name in another
 * instance if that instance imports these records.
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
