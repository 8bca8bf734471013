import { instanceInitialised } from '../errors/accountErrors.ts';
import { instanceKey } from '../instance.ts';
import { type Store, WriteConflictError } from '../store/store.ts';
import { instanceMemberWrite } from './members.ts';
import { personalAccessToken } from './personalAccessTokens.ts';
import { generateId, organisationWrites, serviceUserWrites } from './users.ts';

/** What a new instance has. */
export interface Initialised {
  readonly orgId: string;
  readonly userId: string;
  readonly tokenId: string;
  readonly token: string;
  readonly expiresAt: string;
}

/**
 * Makes an instance: a default organisation and in it a service user who is IAM_OWNER, with a personal access token
 * (specification 5.3). All of it or nothing, and only once.
 * @param name of the instance, its organisation and the service user, so that different instances do not collide
 */
export async function initialise(store: Store, name: string, lifetimeMs: number, now: Date): Promise<Initialised> {
  const orgId = generateId();
  const userId = generateId();
  const { made, write } = personalAccessToken(userId, now, lifetimeMs);
  try {
    await store.commit([
      {
        type: 'create',
        key: instanceKey,
        fields: { orgId, body: JSON.stringify({ name }), createdAt: now.toISOString() },
      },
      ...organisationWrites(orgId, name, now),
      ...serviceUserWrites(userId, orgId, `${name}-owner`, now, false),
      instanceMemberWrite(userId, ['IAM_OWNER']),
      write,
    ]);
  } catch (error) {
    if (!(error instanceof WriteConflictError)) throw error;
    throw instanceInitialised();
  }
  return { orgId, userId, ...made };
}
