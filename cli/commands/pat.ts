import { existingUser } from '../../shared/accounts/existingUser.ts';
import { listTokens, personalAccessToken } from '../../shared/accounts/personalAccessToken.ts';
import { tokenKey } from '../../shared/auth/token.ts';
import { argument, type Run, required, UsageError } from '../command.ts';
import { lifetime } from '../expires.ts';

/** `identity pat create`. */
export const patCreate: Run = async (invocation) => {
  const userId = required(invocation, 'user');
  await existingUser(invocation.store, userId, ['orgId']);
  const { made, write } = personalAccessToken(userId, invocation.now, lifetime(invocation.options.expires));
  await invocation.store.commit([write]);
  return { json: made, text: `token ${made.token} (id ${made.tokenId}), valid until ${made.expiresAt}` };
};

/** `identity pat list`. */
export const patList: Run = async (invocation) => {
  const userId = required(invocation, 'user');
  await existingUser(invocation.store, userId, ['orgId']);
  const tokens = await listTokens(invocation.store, userId);
  const lines = tokens.map(({ tokenId, expiresAt }) => `${tokenId} valid until ${expiresAt}`);
  return { json: { tokens }, text: lines.join('\n') || 'no tokens' };
};

/** `identity pat revoke`. */
export const patRevoke: Run = async (invocation) => {
  const tokenId = argument(invocation, 0);
  const key = tokenKey(tokenId);
  const [token] = await invocation.store.getMany([key], ['ownerId']);
  if (token === undefined) throw new UsageError(`token ${tokenId} not found`);
  await invocation.store.commit([{ type: 'delete', key }]);
  return { json: { tokenId }, text: `token ${tokenId} is revoked` };
};
