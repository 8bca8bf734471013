import { Storage } from '@google-cloud/storage';
import { type GoogleAuth, JWT } from 'google-auth-library';
import { raceAbort } from '../async.ts';
import { credentialsMissing } from '../errors/placeErrors.ts';
import { DEFAULT_CREDENTIALS, findDefaultCredentials } from './defaultCredentials.ts';
import { checkObjectName } from './objectName.ts';
import type { ObjectLocation, ObjectStorage, ServiceAccount } from './objectStorage.ts';
import { pinObject } from './readObject.ts';
import { storageError, type Target } from './storageError.ts';
import { startUpload } from './uploadSession.ts';
import { writeObject } from './writeObject.ts';

/** The options of Cloud Storage. */
export interface CloudStorageOptions {
  /**
   * The service's origin, for example `http://127.0.0.1:8082`; by default STORAGE_EMULATOR_HOST if set, else Google's.
   */
  readonly apiEndpoint?: string;
}

/**
 * Creates access to Cloud Storage. Each call has its own client with that call's account. An account needs only the
 * permission storage.objects.create (write) or storage.objects.get (pin, read).
 */
export function createCloudStorage({ apiEndpoint }: CloudStorageOptions = {}): ObjectStorage {
  return {
    async write(location, content, signal) {
      const target = createTarget(location, 'write');
      const storage = await openFor(location, 'read_write', apiEndpoint);
      const session = await raceAbort(startUpload(storage, target), signal);
      return writeObject(session, content, signal);
    },
    async pin(location, signal) {
      const target = createTarget(location, 'read');
      const storage = await openFor(location, 'read_only', apiEndpoint);
      return raceAbort(pinObject(storage, target), signal);
    },
  };
}

/**
 * Removes an object; the caller's account needs the permission storage.objects.delete.
 * @throws IdentityError naming the bucket and object: missing bucket or object, no permission, wrong key
 */
export async function removeObject(location: ObjectLocation, signal: AbortSignal): Promise<void> {
  const target = createTarget(location, 'remove');
  const storage = await openFor(location, 'read_write', undefined);
  const removing = storage.bucket(target.bucket).file(target.path).delete();
  try {
    await raceAbort(removing, signal);
  } catch (reason) {
    signal.throwIfAborted();
    throw storageError(reason, target);
  }
}

function createTarget({ bucket, path }: ObjectLocation, use: Target['use']): Target {
  checkObjectName({ bucket, path }, '');
  return { bucket, path, use };
}

function openFor(location: ObjectLocation, scope: StorageScope, apiEndpoint: string | undefined) {
  const { account } = location;
  return account === DEFAULT_CREDENTIALS
    ? openWithDefaults(location, scope, apiEndpoint)
    : openStorage(account, scope, apiEndpoint);
}

/** @throws IdentityError UNAUTHENTICATED when the process has no application default credentials */
async function openWithDefaults(
  { bucket, path }: ObjectLocation,
  scope: StorageScope,
  apiEndpoint: string | undefined,
): Promise<Storage> {
  const auth = await findDefaultCredentials(scopeUri(scope));
  if (auth === undefined) throw credentialsMissing(`gs://${bucket}/${path}`);
  return createClient(auth, apiEndpoint);
}

/** The OAuth scope of a client; it never requests a wider one. */
export type StorageScope = 'read_only' | 'read_write';

const maxRetryDelaySeconds = 2;

/**
 * Creates a Cloud Storage client for one call with the caller's account. The client signs its own tokens, so it calls
 * only the storage endpoint. By default the library sends credentials only to Google's endpoint, and uses
 * STORAGE_EMULATOR_HOST as a base URL without the API's path; this function corrects both.
 * @param apiEndpoint the service's origin; by default STORAGE_EMULATOR_HOST if set, else Google's
 */
export function openStorage(account: ServiceAccount, scope: StorageScope, apiEndpoint?: string): Storage {
  const authClient = new JWT({
    email: account.clientEmail,
    key: account.privateKey,
    scopes: [scopeUri(scope)],
  });
  authClient.useJWTAccessWithScope = true;
  return createClient(authClient, apiEndpoint);
}

function scopeUri(scope: StorageScope): string {
  return `https://www.googleapis.com/auth/devstorage.${scope}`;
}

function createClient(authClient: JWT | GoogleAuth, apiEndpoint: string | undefined): Storage {
  const endpoint = apiEndpoint ?? emulatorEndpoint(process.env.STORAGE_EMULATOR_HOST);
  const storage = new Storage({
    authClient,
    useAuthWithCustomEndpoint: true,
    retryOptions: { maxRetryDelay: maxRetryDelaySeconds },
    ...(endpoint === undefined ? {} : { apiEndpoint: endpoint }),
  });
  storage.baseUrl = `${storage.apiEndpoint}/storage/v1`;
  return storage;
}

function emulatorEndpoint(host: string | undefined): string | undefined {
  if (host === undefined || host === '') return undefined;
  return /^https?:\/\//.test(host) ? host : `http://${host}`;
}
