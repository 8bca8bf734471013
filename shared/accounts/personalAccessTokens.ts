import { parseRestriction, type TokenRestriction } from '../auth/authorise.ts';
import { generateToken, tokenDigest, tokenId, tokenKey } from '../auth/token.ts';
import { tokenUnknown } from '../errors/commandErrors.ts';
import { scanInPasses } from '../store/passes.ts';
import type { Store, StoredDocument, Write } from '../store/store.ts';
import { holdUser } from './userAccounts.ts';

/** Only this object contains the secret `token`; the database stores a digest. */
export interface NewToken {
  readonly tokenId: string;
  readonly token: string;
  /** ISO 8601, UTC. */
  readonly expiresAt: string;
}

export interface StoredToken extends TokenRestriction {
  readonly tokenId: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** Generates a token. The caller must commit `write`, which stores the token's digest. */
export function createPersonalAccessToken(
  { userId, orgId }: { readonly userId: string; readonly orgId: string },
  now: Date,
  lifetimeMs: number,
  restriction: TokenRestriction = {},
): { created: NewToken; write: Write } {
  const token = generateToken();
  const id = tokenId(token);
  const expiresAt = new Date(now.getTime() + lifetimeMs).toISOString();
  const fields = {
    partition: tokenPartition(userId),
    ownerId: userId,
    orgId,
    digest: tokenDigest(token),
    createdAt: now.toISOString(),
    expiresAt,
    ...(Object.keys(restriction).length === 0 ? {} : { body: JSON.stringify(restriction) }),
  };
  return { created: { tokenId: id, token, expiresAt }, write: { type: 'create', key: tokenKey(id), fields } };
}

/** @throws IdentityError NOT_FOUND if the user is unknown or deleted */
export function issueToken(
  store: Store,
  userId: string,
  now: Date,
  lifetimeMs: number,
  restriction?: TokenRestriction,
): Promise<NewToken> {
  return store.transaction(async (transaction) => {
    const orgId = await holdUser(transaction, userId);
    const { created, write } = createPersonalAccessToken({ userId, orgId }, now, lifetimeMs, restriction);
    transaction.write([write]);
    return created;
  });
}

/** Lists a user's tokens, including expired tokens, oldest first. */
export async function listTokens(store: Store, userId: string): Promise<StoredToken[]> {
  const tokens: StoredToken[] = [];
  for await (const batch of readTokens(store, userId)) tokens.push(...batch);
  return tokens.sort((a, b) => a.createdAt.localeCompare(b.createdAt));
}

/** @throws IdentityError NOT_FOUND if the token is unknown */
export async function revokeToken(store: Store, id: string): Promise<void> {
  const key = tokenKey(id);
  const [token] = await store.getMany([key], ['ownerId']);
  if (token === undefined) throw tokenUnknown({ tokenId: id });
  await store.commit([{ type: 'delete', key }]);
}

/**
 * Revokes all tokens of a user. A token that is issued during the call may remain.
 * @returns the number of revoked tokens
 */
export async function revokeTokens(store: Store, userId: string): Promise<number> {
  let revoked = 0;
  for await (const tokens of readTokens(store, userId)) {
    await store.commit(tokens.map(({ tokenId }) => ({ type: 'delete', key: tokenKey(tokenId) })));
    revoked += tokens.length;
  }
  return revoked;
}

async function* readTokens(store: Store, userId: string): AsyncGenerator<StoredToken[]> {
  for await (const documents of scanInPasses(store, { collection: 'tokens', partition: tokenPartition(userId) }))
    yield documents.map(toStoredToken);
}

function toStoredToken({ id, createdAt = '', expiresAt = '', body }: StoredDocument): StoredToken {
  return { tokenId: id, createdAt, expiresAt, ...parseRestriction(body) };
}

export function tokenPartition(userId: string): string {
  return `tokens/${userId}`;
}
