// Cloud Storage: reading and writing objects, and access to it.

import { Storage } from '@google-cloud/storage';
import { type AuthClient, GoogleAuth, JWT } from 'google-auth-library';
import { raceAbort } from '../async.ts';
import { credentialsMissing } from '../errors/placeErrors.ts';
import { keyRejected } from '../errors/storageErrors.ts';
import { AccessTokens, AccountClient } from './accountClient.ts';
import { GOOGLE_TOKEN_URI } from './keyExchange.ts';
import { checkObjectName, objectUri } from './objectName.ts';
import { DEFAULT_CREDENTIALS, type ObjectLocation, type ObjectStorage, type ServiceAccount } from './objectStorage.ts';
import { pinObject } from './readObject.ts';
import { storageError, type Target } from './storageError.ts';
import { cancelUpload, startUpload, writeObject } from './writeObject.ts';

/**
 * Creates access to Cloud Storage. Each call has its own client with that call's account. An account needs only the
 * permission storage.objects.create (write) or storage.objects.get (pin, read).
 * @param apiEndpoint the service's origin, such as `http://127.0.0.1:8082`; by default STORAGE_EMULATOR_HOST if set, else
 * Google's
 */
export function createCloudStorage(apiEndpoint?: string): ObjectStorage {
  const open = createOpener(apiEndpoint);
  return {
    async write(location, content, signal) {
      const session = await open(location, 'write', startUpload, signal);
      return writeObject(session, content, signal);
    },
    pin: (location, signal) => open(location, 'read', pinObject, signal),
  };
}

/**
 * Requires that an object can be created: begins an upload, and cancels it.
 * @throws IdentityError naming the bucket and object: missing bucket, no permission, wrong key, object exists
 */
export async function requireCreatable(location: ObjectLocation, signal: AbortSignal): Promise<void> {
  const session = await createOpener(undefined)(location, 'write', startUpload, signal);
  // It expires by itself.
  await cancelUpload(session, signal).catch(() => {});
}

/** Returns a function that begins a call with the account's client. The calls of one account share its token. */
export function createOpener(apiEndpoint: string | undefined) {
  const tokens = new AccessTokens();
  return async <Opened>(
    { bucket, path, account }: ObjectLocation,
    use: Target['use'],
    work: (storage: Storage, target: Target) => Promise<Opened>,
    signal: AbortSignal,
  ) => {
    checkObjectName({ bucket, path }, '');
    const target = { bucket, path, use };
    const endpoint = apiEndpoint ?? emulatorEndpoint();
    const client = await createAuthClient(account, target, endpoint, tokens);
    const storage = createClient(client, endpoint);
    const start = () => raceAbort(work(storage, target), signal);
    return client instanceof AccountClient ? startWithToken(client, start, target, signal) : start();
  };
}

async function createAuthClient(
  account: ObjectLocation['account'],
  { bucket, path, use }: Target,
  endpoint: string | undefined,
  tokens: AccessTokens,
): Promise<AccountClient | GoogleAuth> {
  const scope = scopes[use];
  if (account !== DEFAULT_CREDENTIALS) return createAccountClient(account, scope, endpoint, tokens);
  const found = await findDefaultCredentials(scope);
  if (found === undefined) throw credentialsMissing({ place: objectUri({ bucket, path }) });
  return 'clientEmail' in found ? createAccountClient(found, scope, endpoint, tokens) : found;
}

/**
 * Gets a token first, so that the error of a failed exchange contains the object's name. Repeats the call with a new token
 * if a cached one was revoked.
 */
async function startWithToken<Opened>(
  client: AccountClient,
  start: () => Promise<Opened>,
  target: Target,
  signal: AbortSignal,
): Promise<Opened> {
  const isKept = client.hasToken;
  try {
    await prepare(client, target, signal);
    return await start();
  } catch (error) {
    if (!isKept || !keyRejected.is(error)) throw error;
    client.dropToken();
    await prepare(client, target, signal);
    return await start();
  }
}

async function prepare(client: AccountClient, target: Target, signal: AbortSignal): Promise<void> {
  await client.prepare(signal).catch((reason: unknown) => {
    signal.throwIfAborted();
    throw storageError(reason, target);
  });
}

/** No call on an object needs a project. Without one, the library would start gcloud to find it, in every call. */
export const NO_PROJECT = 'none';

/**
 * Finds the application default credentials: the file that GOOGLE_APPLICATION_CREDENTIALS names, those of gcloud, or those
 * of the machine in Google Cloud.
 * @returns the service account of a key file; undefined if there are no credentials
 */
async function findDefaultCredentials(scope: string): Promise<GoogleAuth | ServiceAccount | undefined> {
  const auth = new GoogleAuth({ scopes: [scope], projectId: NO_PROJECT });
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

/** The OAuth scope of each use; no client requests a wider one. */
const scopes = {
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
function createAccountClient(
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
export function emulatorEndpoint(): string | undefined {
  const host = process.env.STORAGE_EMULATOR_HOST;
  if (host === undefined || host === '') return undefined;
  const origin = /^https?:\/\//.test(host) ? host : `http://${host}`;
  return origin.replace(/\/+$/, '');
}
