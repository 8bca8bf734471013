import { generateKeyPairSync } from 'node:crypto';
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
