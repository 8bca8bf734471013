import { GoogleAuth, JWT } from 'google-auth-library';
import type { ServiceAccount } from './objectStorage.ts';

/**
 * Finds the application default credentials: the file that GOOGLE_APPLICATION_CREDENTIALS names, those of gcloud, or those
 * of the machine in Google Cloud.
 * @returns the service account of a key file; undefined if there are no credentials
 */
export async function findDefaultCredentials(scope: string): Promise<GoogleAuth | ServiceAccount | undefined> {
  const auth = new GoogleAuth({ scopes: [scope] });
  try {
    const client = await auth.getClient();
    if (!(client instanceof JWT)) return auth;
    const { email, key, keyId } = client;
    if (email === undefined || key === undefined) return auth;
    return { clientEmail: email, privateKey: key, ...(keyId === undefined ? {} : { keyId }) };
  } catch (error) {
    if (error instanceof Error && /default credentials/i.test(error.message)) return undefined;
    throw error;
  }
}
