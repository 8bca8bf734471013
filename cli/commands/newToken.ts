import type { NewToken } from '../../shared/accounts/personalAccessTokens.ts';
import { optional, type Values } from '../terminal/command.ts';

export const newTokenFile = { 'token-file': optional('FILE', 'write the token to a new file instead of printing it') };

/** A new token as the command prints it. If the command wrote the token to a file, `tokenFile` replaces `token`. */
type ShownToken = Omit<NewToken, 'token'> & { readonly token?: string; readonly tokenFile?: string };

/** If the call has `--token-file`, stores the token in that file, and returns the file's name instead of the token. */
export async function createToken<Created extends NewToken>(
  { 'token-file': tokenFile }: Values<typeof newTokenFile>,
  create: () => Promise<Created>,
): Promise<Omit<Created, 'token'> & ShownToken> {
  if (tokenFile === undefined) return create();
  const { storeNewToken } = await import('../../shared/auth/tokenFile.ts');
  const { token: _, ...created } = await storeNewToken(tokenFile, create);
  return { ...created, tokenFile };
}

export function tokenText({ token, tokenFile, tokenId, expiresAt }: ShownToken): string {
  const shown = tokenFile === undefined ? `token ${token}` : `token in ${tokenFile}`;
  return `${shown} (id ${tokenId}), valid until ${expiresAt}`;
}
