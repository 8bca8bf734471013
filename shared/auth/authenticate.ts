import { authHeaderInvalid, authHeaderMissing, tokenInvalid } from '../errors/errors.ts';
import type { Store } from '../store/store.ts';
import { userKey } from './memberKeys.ts';
import { isWellFormed, matchesDigest, tokenId, tokenKey } from './token.ts';

/** Who calls: a person or a service user whose token is valid now. */
export interface Caller {
  readonly userId: string;
}

/** States in which a user's tokens are refused (contract 6.5); they are valid again when the state ends. */
const refusedStates: ReadonlySet<string> = new Set([
  'USER_STATE_INACTIVE',
  'USER_STATE_LOCKED',
  'USER_STATE_SUSPEND',
  'USER_STATE_DELETED',
]);

/**
 * Finds the caller by the Authorization header (interface 5.1, contract 6.5).
 * @throws IdentityError UNAUTHENTICATED
 */
export async function authenticate(store: Store, authorization: string | undefined, now: Date): Promise<Caller> {
  if (authorization === undefined || authorization === '') throw authHeaderMissing();
  if (!authorization.startsWith('Bearer ')) throw authHeaderInvalid();
  const token = authorization.slice('Bearer '.length);
  if (!isWellFormed(token)) throw tokenInvalid();
  const [stored] = await store.getMany([tokenKey(tokenId(token))]);
  if (stored?.digest === undefined || stored.ownerId === undefined) throw tokenInvalid();
  if (!matchesDigest(token, stored.digest)) throw tokenInvalid();
  if (stored.expiresAt !== undefined && Date.parse(stored.expiresAt) <= now.getTime()) throw tokenInvalid();
  const [user] = await store.getMany([userKey(stored.ownerId)], ['state']);
  if (user === undefined || refusedStates.has(user.state ?? '')) throw tokenInvalid();
  return { userId: stored.ownerId };
}
