import { generateKeyPairSync } from 'node:crypto';
import type { ServiceAccount } from '../../../shared/objectStorage/objectStorage.ts';

/** Creates a service account with a new key. */
export function newAccount(name: string): ServiceAccount {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const clientEmail = `${name}@local.iam.gserviceaccount.com`;
  return { clientEmail, privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}
