import { Storage } from '@google-cloud/storage';
import type { AuthClient, GoogleAuth } from 'google-auth-library';
import { AccessTokens } from './accessTokens.ts';
import { AccountClient } from './accountClient.ts';
import { GOOGLE_TOKEN_URI } from './keyExchange.ts';
import type { ServiceAccount } from './objectStorage.ts';
import type { Target } from './storageError.ts';

/** The OAuth scope of each use; no client requests a wider one. */
export const scopes = {
  read: 'https://www.googleapis.com/auth/devstorage.read_only',
  write: 'https://www.googleapis.com/auth/devstorage.read_write',
  remove: 'https://www.googleapis.com/auth/devstorage.read_write',
} as const;

const maxRetryDelaySeconds = 2;

/**
 * Creates a Cloud Storage client for one call with the caller's account.
 * @param apiEndpoint the service's origin; by default Google's
 */
export function openStorage(account: ServiceAccount, use: Target['use'], apiEndpoint?: string): Storage {
  return createClient(createAccountClient(account, scopes[use], apiEndpoint, new AccessTokens()), apiEndpoint);
}

/** Keys are exchanged by Google for its own endpoint, and by an emulator for itself. */
export function createAccountClient(
  account: ServiceAccount,
  scope: string,
  endpoint: string | undefined,
  tokens: AccessTokens,
): AccountClient {
  const tokenUri = endpoint === undefined ? GOOGLE_TOKEN_URI : `${endpoint}/token`;
  return new AccountClient(tokens, { account, scope, tokenUri });
}

/**
 * By default the library sends credentials only to Google's endpoint, and uses STORAGE_EMULATOR_HOST as a base URL without
 * the API's path; this function corrects both.
 */
export function createClient(authClient: AuthClient | GoogleAuth, endpoint: string | undefined): Storage {
  const storage = new Storage({
    authClient,
    useAuthWithCustomEndpoint: true,
    retryOptions: { maxRetryDelay: maxRetryDelaySeconds },
    ...(endpoint === undefined ? {} : { apiEndpoint: endpoint }),
  });
  storage.baseUrl = `${storage.apiEndpoint}/storage/v1`;
  return storage;
}

/** Returns the origin that STORAGE_EMULATOR_HOST names, which may omit the scheme. */
export function emulatorEndpoint(host: string | undefined): string | undefined {
  if (host === undefined || host === '') return undefined;
  const origin = /^https?:\/\//.test(host) ? host : `http://${host}`;
  return origin.replace(/\/+$/, '');
}
