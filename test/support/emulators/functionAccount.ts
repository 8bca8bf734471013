import { vi } from 'vitest';

/**
 * Lets the application default credentials be those of a function in Google Cloud: an account without a key file, whose
 * metadata server is the stand-in. The caller restores the environment with `vi.unstubAllEnvs`.
 * @param storageUrl the address of a LocalBucket
 */
export function becomeFunction(storageUrl: string): void {
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', undefined);
  // Without the credentials of gcloud on this machine.
  vi.stubEnv('HOME', '/nonexistent');
  vi.stubEnv('METADATA_SERVER_DETECTION', 'assume-present');
  vi.stubEnv('GCE_METADATA_HOST', new URL(storageUrl).host);
}
