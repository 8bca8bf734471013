import { listTokens, personalAccessToken } from '../../shared/accounts/personalAccessToken.ts';
import { existingUser } from '../../shared/accounts/users.ts';
import { tokenKey } from '../../shared/auth/token.ts';
import { argument, type Command, required, UsageError } from '../command.ts';
import { lifetime } from '../expires.ts';

/** `identity pat create`. */
export const patCreate: Command = {
  name: 'pat create',
  usage: '--user ID [--expires 30d]',
  summary: 'make a personal access token of a person or service user; it is shown this once',
  options: { user: { type: 'string' }, expires: { type: 'string' } },
  positionals: 0,
  async run(invocation) {
    const userId = required(invocation, 'user');
    await existingUser(invocation.store, userId, ['orgId']);
    const { made, write } = personalAccessToken(userId, invocation.now, lifetime(invocation.options.expires));
    await invocation.store.commit([write]);
    return { json: made, text: `token ${made.token} (id ${made.tokenId}), valid until ${made.expiresAt}` };
  },
};

/** `identity pat list`. */
export const patList: Command = {
  name: 'pat list',
  usage: '--user ID',
  summary: 'list the tokens of a user',
  options: { user: { type: 'string' } },
  positionals: 0,
  async run(invocation) {
    const userId = required(invocation, 'user');
    await existingUser(invocation.store, userId, ['orgId']);
    const tokens = await listTokens(invocation.store, userId);
    const lines = tokens.map(({ tokenId, expiresAt }) => `${tokenId} valid until ${expiresAt}`);
    return { json: { tokens }, text: lines.join('\n') || 'no tokens' };
  },
};

/** `identity pat revoke`. */
export const patRevoke: Command = {
  name: 'pat revoke',
  usage: 'TOKEN_ID',
  summary: 'make a token invalid at once',
  options: {},
  positionals: 1,
  async run(invocation) {
    const tokenId = argument(invocation, 0);
    const key = tokenKey(tokenId);
    const [token] = await invocation.store.getMany([key], ['ownerId']);
    if (token === undefined) throw new UsageError(`there is no token ${tokenId}`);
    await invocation.store.commit([{ type: 'delete', key }]);
    return { json: { tokenId }, text: `token ${tokenId} is revoked` };
  },
};
