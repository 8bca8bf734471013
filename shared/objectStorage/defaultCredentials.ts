import { GoogleAuth, JWT } from 'google-auth-library';

/** In place of a service account: the application default credentials of the process. */
export const DEFAULT_CREDENTIALS = 'applicationDefault';

/**
 * Finds the application default credentials: the file that GOOGLE_APPLICATION_CREDENTIALS names, those of gcloud, or those
 * of the machine in Google Cloud.
 * @returns undefined if there are none
 */
export async function findDefaultCredentials(scope: string): Promise<GoogleAuth | undefined> {
  const auth = new GoogleAuth({ scopes: [scope] });
  try {
    const client = await auth.getClient();
    // A service account signs its own tokens, as that of a request does.
    if (client instanceof JWT) client.useJWTAccessWithScope = true;
    return auth;
  } catch (error) {
    if (error instanceof Error && /default credentials/i.test(error.message)) return undefined;
    throw error;
  }
}
