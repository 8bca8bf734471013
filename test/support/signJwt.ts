import { sign } from 'node:crypto';
import type { ServiceAccount } from '../../shared/objectStorage/objectStorage.ts';

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token that a service account signs itself, good for reading unless `changes` say otherwise; an `undefined` claim is left out. */
export function signJwt(account: ServiceAccount, changes: Readonly<Record<string, unknown>> = {}): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: account.clientEmail,
    sub: account.clientEmail,
    scope: 'https://www.googleapis.com/auth/devstorage.read_only',
    iat: now,
    exp: now + 3600,
    ...changes,
  };
  const signed = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), account.privateKey).toString('base64url')}`;
}
