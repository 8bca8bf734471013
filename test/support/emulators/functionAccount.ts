import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';

/** A home directory without the gcloud credentials of this machine. */
const HOME = join(tmpdir(), 'identity-test-home');

/**
 * Returns the environment in which the application default credentials are those of a function in Google Cloud: an account
 * without a key file, whose metadata server is the stand-in.
 * @param storageUrl the address of a LocalBucket
 */
export function functionAccount(storageUrl: string): Readonly<Record<string, string | undefined>> {
  return {
    GOOGLE_APPLICATION_CREDENTIALS: undefined,
    HOME,
    METADATA_SERVER_DETECTION: 'assume-present',
    GCE_METADATA_HOST: new URL(storageUrl).host,
  };
}

/** Gives this process that environment. The caller restores the original with `vi.unstubAllEnvs`. */
export function becomeFunction(storageUrl: string): void {
  for (const [name, value] of Object.entries(functionAccount(storageUrl))) vi.stubEnv(name, value);
}
