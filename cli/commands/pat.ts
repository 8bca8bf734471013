import { operations } from '../../shared/auth/token.ts';
import {
  defineInstanceCommand,
  flag,
  optional,
  repeatable,
  required,
  toList,
  usageError,
} from '../terminal/command.ts';
import { counted } from '../terminal/numberTexts.ts';
import { createToken, newTokenFile, tokenText } from './newToken.ts';

export const patCreateCommand = defineInstanceCommand({
  name: 'pat create',
  summary: 'create a personal access token, which is shown only once',
  isAudited: true,
  arguments: [],
  options: {
    user: required('USER_ID', 'the person or service user'),
    expires: optional('DURATION', 'lifetime of the token; by default 30d'),
    only: repeatable('OPERATIONS', `restrict the token to some of ${operations.join(',')}`),
    ...newTokenFile,
  },
  examples: ['pat create --user 330000000000000301 --expires 12h --only export --token-file north.pat --data ./north'],
  run: async ({ options, store, environment, now }) => {
    const { user, expires } = options;
    const only = [...new Set(options.only.flat())];
    const { tokenLifetime } = await import('../terminal/configuration.ts');
    const { issueToken } = await import('../../shared/accounts/personalAccessTokens.ts');
    const restriction = only.length === 0 ? {} : { operations: only };
    const lifetimeMs = tokenLifetime(expires, { environment });
    const created = await createToken(options, () => issueToken(store, user, now, lifetimeMs, restriction));
    return { json: created, text: tokenText(created) };
  },
});

export const patListCommand = defineInstanceCommand({
  name: 'pat list',
  summary: "list a user's tokens",
  arguments: [],
  options: { user: required('USER_ID', 'the person or service user') },
  examples: ['pat list --user 330000000000000301 --data ./north'],
  run: async ({ options: { user }, store, now }) => {
    const { requireUser } = await import('../../shared/accounts/userAccounts.ts');
    const { listTokens } = await import('../../shared/accounts/personalAccessTokens.ts');
    await requireUser(store, user);
    const tokens = await listTokens(store, user);
    return toList('tokens', tokens, {
      id: ({ tokenId }) => tokenId,
      'valid until': ({ expiresAt }) => `${expiresAt}${Date.parse(expiresAt) > now.getTime() ? '' : ' (expired)'}`,
      operations: ({ operations }) => operations?.join(',') ?? 'all',
    });
  },
});

export const patRevokeCommand = defineInstanceCommand({
  name: 'pat revoke',
  summary: "revoke a token, or all of a user's tokens, immediately",
  isAudited: true,
  arguments: [optional('TOKEN_ID', 'the id of the token, which `identity pat list` shows')],
  options: {
    all: flag("instead of TOKEN_ID: all of a user's tokens"),
    user: optional('USER_ID', 'with --all: the person or service user'),
  },
  examples: [
    'pat revoke 6f1ed002ab5595859014ebf0951522d9 --data ./north',
    'pat revoke --all --user 330000000000000301 --data ./north',
  ],
  run: async ({ arguments: [tokenId], options: { all, user }, store }) => {
    const { revokeToken, revokeTokens } = await import('../../shared/accounts/personalAccessTokens.ts');
    if (tokenId !== undefined && !all && user === undefined) {
      await revokeToken(store, tokenId);
      return { json: { tokenId }, text: `token ${tokenId} is revoked` };
    }
    if (tokenId !== undefined || !all || user === undefined)
      throw usageError('specify either TOKEN_ID or --all --user ID');
    const { requireUser } = await import('../../shared/accounts/userAccounts.ts');
    await requireUser(store, user);
    const revoked = await revokeTokens(store, user);
    return { json: { userId: user, revoked }, text: `${counted(revoked, 'token')} of ${user} revoked` };
  },
});
