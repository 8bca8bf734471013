// Cloud Storage: reading and writing objects, and access to it.

import { Storage } from '@google-cloud/storage';
import { type AuthClient, GoogleAuth, JWT, PassThroughClient } from 'google-auth-library';
import { raceAbort } from '../async.ts';
import { defined } from '../defined.ts';
import { credentialsMissing } from '../errors/placeErrors.ts';
import { keyRejected } from '../errors/storageErrors.ts';
import { retry } from '../retry.ts';
import { createAccountClient } from './accountClient.ts';
import { checkObjectName, objectUri } from './objectName.ts';
import { DEFAULT_CREDENTIALS, type ObjectLocation, type ObjectStorage, type ServiceAccount } from './objectStorage.ts';
import { pinObject } from './readObject.ts';
import {
  convertedPolicy,
  describeFailure,
  isTransient,
  storageError,
  storagePolicy,
  type Target,
} from './storageError.ts';
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
 * Requires that an object can be created: starts an upload, and cancels it.
 * @throws IdentityError with the bucket and the object, for a missing bucket, a missing permission, a wrong key or an
 * existing object
 */
export async function requireCreatable(location: ObjectLocation, signal: AbortSignal): Promise<void> {
  const session = await createOpener(undefined)(location, 'write', startUpload, signal);
  await cancelUpload(session, signal);
}

/** Returns a function that begins a call with the account's client. */
export function createOpener(apiEndpoint: string | undefined) {
  return async <Opened>(
    { bucket, path, account }: ObjectLocation,
    use: Target['use'],
    work: (storage: Storage, target: Target) => Promise<Opened>,
    signal: AbortSignal,
  ) => {
    checkObjectName({ bucket, path }, '');
    const target = { bucket, path, use };
    const endpoint = apiEndpoint ?? emulatorEndpoint();
    const client = await createAuthClient(account, target, endpoint, signal);
    const storage = createClient(client, endpoint);
    return await retry(convertedPolicy, () => raceAbort(work(storage, target), signal), signal);
  };
}

async function createAuthClient(
  account: ObjectLocation['account'],
  target: Target,
  endpoint: string | undefined,
  signal: AbortSignal,
): Promise<AuthClient | GoogleAuth> {
  const found = account === DEFAULT_CREDENTIALS ? await findDefaultCredentials(scopes[target.use]) : account;
  if (found === undefined) throw credentialsMissing({ place: objectUri(target) });
  return 'clientEmail' in found ? await exchangeKey(found, target, endpoint, signal) : found;
}

/**
 * Requests a token before the first request, so that the error of a failed exchange contains the object's name. An
 * emulator without a token endpoint checks no credentials, so its requests need no token.
 */
async function exchangeKey(
  account: ServiceAccount,
  target: Target,
  endpoint: string | undefined,
  signal: AbortSignal,
): Promise<AuthClient> {
  const client = createAccountClient(account, scopes[target.use], endpoint);
  try {
    await retry(storagePolicy, () => raceAbort(client.authorize(), signal), signal);
    return client;
  } catch (reason) {
    signal.throwIfAborted();
    const { status } = describeFailure(reason);
    if (endpoint !== undefined && status === 404) return new PassThroughClient();
    if (status !== undefined && !isTransient(reason)) throw keyRejected({ at: objectUri(target) });
    throw storageError(reason, target);
  }
}

/**
 * The project id for calls that need no project. Without an id, the library would start gcloud in every call to find a
 * project.
 */
export const NO_PROJECT = 'none';

/**
 * Finds the application default credentials: the file in GOOGLE_APPLICATION_CREDENTIALS, gcloud's credentials or, in
 * Google Cloud, the machine's credentials.
 * @returns the service account of a key file; undefined if there are no credentials
 */
async function findDefaultCredentials(scope: string): Promise<GoogleAuth | ServiceAccount | undefined> {
  const auth = new GoogleAuth({ scopes: [scope], projectId: NO_PROJECT });
  try {
    const client = await auth.getClient();
    if (!(client instanceof JWT)) return auth;
    const { email, key } = client;
    return email === undefined || key === undefined ? auth : { clientEmail: email, privateKey: key };
  } catch (error) {
    if (error instanceof Error && /default credentials/i.test(error.message)) return undefined;
    throw error;
  }
}

/** The OAuth scope of each use; no client requests more. */
const scopes = {
  read: 'https://www.googleapis.com/auth/devstorage.read_only',
  write: 'https://www.googleapis.com/auth/devstorage.read_write',
  remove: 'https://www.googleapis.com/auth/devstorage.read_write',
} as const;

/**
 * Creates a Cloud Storage client for one call with the caller's account.
 * @param apiEndpoint the service's origin; by default Google's
 */
export function openStorage(account: ServiceAccount, use: Target['use'], apiEndpoint?: string): Storage {
  return createClient(createAccountClient(account, scopes[use], apiEndpoint), apiEndpoint);
}

/**
 * Creates a client, and corrects three defaults of the library. The library sends credentials only to Google's
 * endpoint, and retries earlier than Cloud Storage asks for. It uses STORAGE_EMULATOR_HOST as a base URL without the
 * API's path.
 */
export function createClient(authClient: AuthClient | GoogleAuth, endpoint: string | undefined): Storage {
  const storage = new Storage({
    authClient,
    useAuthWithCustomEndpoint: true,
    retryOptions: { autoRetry: false },
    ...defined({ apiEndpoint: endpoint }),
  });
  storage.baseUrl = `${storage.apiEndpoint}/storage/v1`;
  return storage;
}

/** Returns the origin in STORAGE_EMULATOR_HOST, whose scheme may be missing. */
export function emulatorEndpoint(): string | undefined {
  const host = process.env.STORAGE_EMULATOR_HOST;
  if (host === undefined || host === '') return undefined;
  const origin = /^https?:\/\//.test(host) ? host : `http://${host}`;
  return origin.replace(/\/+$/, '');
}
