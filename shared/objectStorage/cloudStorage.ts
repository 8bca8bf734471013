import { Storage } from '@google-cloud/storage';
import { JWT } from 'google-auth-library';
import { raceAbort } from '../async.ts';
import { checkObjectName } from './objectName.ts';
import type { ObjectLocation, ObjectStorage, ServiceAccount } from './objectStorage.ts';
import { pinObject } from './readObject.ts';
import type { Target } from './storageError.ts';
import { startUpload } from './uploadSession.ts';
import { writeObject } from './writeObject.ts';

/** Where Cloud Storage is, when it is neither Google's nor at STORAGE_EMULATOR_HOST. */
export interface CloudStorageOptions {
  /** An origin, for example `http://127.0.0.1:8082`. */
  readonly apiEndpoint?: string;
}

/**
 * Cloud Storage. Each call has a client of its own, with that call's account, and needs no more than the permission
 * storage.objects.create (write) or storage.objects.get (pin, read).
 */
export function createCloudStorage({ apiEndpoint }: CloudStorageOptions = {}): ObjectStorage {
  return {
    async write(location, content, signal) {
      const target = createTarget(location, 'write');
      const storage = openStorage(location.account, 'read_write', apiEndpoint);
      const session = await raceAbort(startUpload(storage, target), signal);
      return writeObject(session, content, signal);
    },
    async pin(location, signal) {
      const target = createTarget(location, 'read');
      const storage = openStorage(location.account, 'read_only', apiEndpoint);
      return raceAbort(pinObject(storage, target), signal);
    },
  };
}

function createTarget({ bucket, path }: ObjectLocation, use: Target['use']): Target {
  checkObjectName({ bucket, path }, '');
  return { bucket, path, use };
}

/** What a client may do: no wider scope is ever asked for. */
export type StorageScope = 'read_only' | 'read_write';

const maxRetryDelaySeconds = 2;

/**
 * A Cloud Storage client for one call, with the caller's account. It signs its own tokens, so nothing but the storage
 * endpoint is called. The library sends no credentials to another endpoint than Google's unless it is told to, and
 * takes STORAGE_EMULATOR_HOST for a base URL without the API's path; both are put right here.
 * @param apiEndpoint the origin of the service; by default STORAGE_EMULATOR_HOST where it is set, else Google's
 */
export function openStorage(account: ServiceAccount, scope: StorageScope, apiEndpoint?: string): Storage {
  const authClient = new JWT({
    email: account.clientEmail,
    key: account.privateKey,
    scopes: [`https://www.googleapis.com/auth/devstorage.${scope}`],
  });
  authClient.useJWTAccessWithScope = true;
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
