import { readFile } from 'node:fs/promises';
import { exchangeKey, GOOGLE_TOKEN_URI, signJwt } from '../../shared/objectStorage/keyExchange.ts';
import type { ServiceAccount } from '../../shared/objectStorage/objectStorage.ts';
import { readServiceAccount } from '../../shared/objectStorage/serviceAccount.ts';
import type { Authorization } from './action.ts';

const SCOPE = 'https://www.googleapis.com/auth/devstorage.read_only';
const AUDIENCE = 'https://storage.googleapis.com/';
const LIFETIME_SECONDS = 600;
const EXCHANGE_MS = 30_000;

/** Reads a token from its file, or makes one with a key file: as the functions do, or one of those that they avoid. */
export async function bearerToken(authorization: Authorization): Promise<string> {
  if ('tokenFile' in authorization) return (await readFile(authorization.tokenFile, 'utf8')).trim();
  const account = readServiceAccount((await readFile(authorization.keyFile)).toString('base64'), 'key file');
  if (authorization.as === 'scope') return selfSigned(account, { scope: SCOPE });
  if (authorization.as === 'audience') return selfSigned(account, { aud: AUDIENCE });
  const { value } = await exchangeKey(account, SCOPE, GOOGLE_TOKEN_URI, AbortSignal.timeout(EXCHANGE_MS));
  if (value === undefined) throw new Error('the token endpoint returned no token');
  return value;
}

/** Creates a JWT that an account signs itself, for Cloud Storage. */
function selfSigned(account: ServiceAccount, grant: { scope: string } | { aud: string }): string {
  const { clientEmail } = account;
  return signJwt(account, { iss: clientEmail, sub: clientEmail, ...grant }, LIFETIME_SECONDS);
}
