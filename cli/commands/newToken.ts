import type { NewToken } from '../../shared/accounts/personalAccessTokens.ts';
import { optional, type Values } from '../terminal/command.ts';

/** The option `--token-file` of commands that create a token. */
export const newTokenFile = { 'token-file': optional('FILE', 'write the token to a new file instead of printing it') };

/** A new token as a command prints it. `tokenFile` replaces `token` if the token was written to a file. */
type ShownToken = Omit<NewToken, 'token'> & { readonly token?: string; readonly tokenFile?: string };

/**
 * Creates a token. If the call has `--token-file`, stores the token in that file.
 * @returns the result of `create`. If the token was stored in a file, the result contains the file's name instead of
 * the token
 */
export async function createToken<Created extends NewToken>(
  { 'token-file': tokenFile }: Values<typeof newTokenFile>,
  create: () => Promise<Created>,
): Promise<Omit<Created, 'token'> & ShownToken> {
  if (tokenFile === undefined) return create();
  const { storeNewToken } = await import('../../shared/auth/tokenFile.ts');
  const { token: _, ...created } = await storeNewToken(tokenFile, create);
  return { ...created, tokenFile };
}

/** Returns the text that prints a new token: the token itself, or the name of the file that contains it. */
export function tokenText({ token, tokenFile, tokenId, expiresAt }: ShownToken): string {
  const shown = tokenFile === undefined ? `token ${token}` : `token in ${tokenFile}`;
  return `${shown} (id ${tokenId}), valid until ${expiresAt}`;
}
