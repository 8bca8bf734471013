import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import type { Account } from '../../../local/storage/access.ts';
import type { ServiceAccount } from '../../../shared/objectStorage/objectStorage.ts';

/** A service account with a new key. */
export function newAccount(name: string): Required<ServiceAccount> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const clientEmail = `${name}@local.iam.gserviceaccount.com`;
  return {
    clientEmail,
    keyId: `${name}-key`,
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** The account as the stand-in knows it, with roles in the bucket `bucket`. */
export function localAccount(
  { clientEmail, privateKey, keyId }: Required<ServiceAccount>,
  roles: Account['roles'],
): Account {
  const publicKeyPem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString();
  return { clientEmail, publicKeyPem, keyId, roles, buckets: ['bucket'] };
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/**
 * A token that a service account signs itself for Cloud Storage, unless `changes` say otherwise; an `undefined` claim is
 * left out.
 */
export function signJwt(account: ServiceAccount, changes: Readonly<Record<string, unknown>> = {}): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: account.clientEmail,
    sub: account.clientEmail,
    aud: 'https://storage.googleapis.com/',
    iat: now,
    exp: now + 3600,
    ...changes,
  };
  const signed = `${encode({ alg: 'RS256', typ: 'JWT', kid: account.keyId })}.${encode(claims)}`;
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), account.privateKey).toString('base64url')}`;
}
