import { z } from 'zod';
import { callError, request, send, type ZitadelCall, type ZitadelConnection } from './connection.ts';
import { searchAll } from './search.ts';

/** A personal access token of a service user. */
export interface ServiceUserToken {
  readonly id: string;
  /** ISO 8601; undefined for a token that never expires. */
  readonly expiresAt: string | undefined;
}

/** A service user of a ZITADEL, and the organisation that it belongs to. */
export interface ServiceUser {
  readonly userId: string;
  readonly orgId: string;
}

const token = z.looseObject({ id: z.string(), expirationDate: z.string().optional() });

function tokensPath({ userId }: ServiceUser): string {
  return `/management/v1/users/${encodeURIComponent(userId)}/pats`;
}

/** Lists the tokens of a service user: all of them outlive a migration until they expire or are revoked. */
export async function listTokens(connection: ZitadelConnection, user: ServiceUser): Promise<ServiceUserToken[]> {
  const path = `${tokensPath(user)}/_search`;
  const tokens = await searchAll(connection, { path, orgId: user.orgId, result: token });
  return tokens.map(({ id, expirationDate }) => ({ id, expiresAt: expirationDate }));
}

/** Revokes a token. Revoking the connection's own ends the connection. */
export async function revokeToken(connection: ZitadelConnection, user: ServiceUser, tokenId: string): Promise<void> {
  const path = `${tokensPath(user)}/${encodeURIComponent(tokenId)}`;
  await request(connection, { method: 'DELETE', path, orgId: user.orgId }, z.looseObject({}));
}

/**
 * Deletes a service user, with its tokens and memberships: those in the organisations too, which an import gave it.
 * @returns whether it existed
 */
export async function deleteServiceUser(connection: ZitadelConnection, userId: string): Promise<boolean> {
  const call: ZitadelCall = { method: 'DELETE', path: `/v2/users/${encodeURIComponent(userId)}` };
  const answer = await send(connection, call);
  if (answer.status === 200) return true;
  // A user without membership gets 404 as well.
  if (answer.status === 404 && answer.text.includes('COMMAND-bd4ir1mblj')) return false;
  throw callError(connection, call, answer);
}
