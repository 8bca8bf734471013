import { generateToken, tokenDigest, tokenId, tokenKey } from '../auth/token.ts';
import type { Store, StoredDocument, Write } from '../store/store.ts';

/** A token just made: `token` is shown this once and never stored. */
export interface NewToken {
  readonly tokenId: string;
  readonly token: string;
  /** ISO 8601, UTC. */
  readonly expiresAt: string;
}

/** A stored token, without its secret. */
export interface StoredToken {
  readonly tokenId: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** Makes a personal access token of a user, and the write that stores it. */
export function personalAccessToken(userId: string, now: Date, lifetimeMs: number): { made: NewToken; write: Write } {
  const token = generateToken();
  const id = tokenId(token);
  const expiresAt = new Date(now.getTime() + lifetimeMs).toISOString();
  const fields = {
    partition: partition(userId),
    ownerId: userId,
    digest: tokenDigest(token),
    createdAt: now.toISOString(),
    expiresAt,
  };
  return { made: { tokenId: id, token, expiresAt }, write: { type: 'create', key: tokenKey(id), fields } };
}

/** A user's tokens, the expired ones included, oldest first. */
export async function listTokens(store: Store, userId: string): Promise<StoredToken[]> {
  await using snapshot = await store.snapshot();
  const tokens: StoredToken[] = [];
  for await (const documents of snapshot.scan({ collection: 'tokens', partition: partition(userId) })) {
    tokens.push(...documents.map(described));
  }
  return tokens.sort((one, other) => one.createdAt.localeCompare(other.createdAt));
}

function described({ id, createdAt = '', expiresAt = '' }: StoredDocument): StoredToken {
  return { tokenId: id, createdAt, expiresAt };
}

function partition(userId: string): string {
  return `tokens/${userId}`;
}
