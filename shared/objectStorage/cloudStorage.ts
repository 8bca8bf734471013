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
 * Creates access to objects in Cloud Storage. The account of an object needs only the permission storage.objects.create
 * to write it, and only storage.objects.get to find and read it.
 * @param apiEndpoint the origin of the service, such as `http://127.0.0.1:8082`; if absent, the value of
 * STORAGE_EMULATOR_HOST or, if that is unset, Google's origin
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
 * Checks that the account can create an object. For this check, starts an upload of the object, and cancels the upload.
 * @throws IdentityError that contains the URI of the object, if the bucket or a permission is missing, the key is
 * wrong or the object exists
 */
export async function requireCreatable(location: ObjectLocation, signal: AbortSignal): Promise<void> {
  const session = await createOpener(undefined)(location, 'write', startUpload, signal);
  await cancelUpload(session, signal);
}

/**
 * Returns a function that calls `work` with a client for the account of an object. After a transient error, it calls
 * `work` again.
 */
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
  const credentials = account === DEFAULT_CREDENTIALS ? await findDefaultCredentials(scopes[target.use]) : account;
  if (credentials === undefined) throw credentialsMissing({ place: objectUri(target) });
  return 'clientEmail' in credentials ? await exchangeKey(credentials, target, endpoint, signal) : credentials;
}

/**
 * Gets a token before the first request, so that the error about a failure contains the name of the object. If an
 * emulator has no token endpoint, it checks no credentials, so the returned client sends no token.
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
 * A placeholder for the project id, which our calls do not need. Without it, the library would start gcloud in every
 * call to find the id.
 */
export const NO_PROJECT = 'none';

/**
 * @returns the service account if the credentials are a key file, otherwise the library's `GoogleAuth`; undefined if
 * the process has no credentials
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

const scopes = {
  read: 'https://www.googleapis.com/auth/devstorage.read_only',
  write: 'https://www.googleapis.com/auth/devstorage.read_write',
  remove: 'https://www.googleapis.com/auth/devstorage.read_write',
} as const;

export function openStorage(account: ServiceAccount, use: Target['use'], apiEndpoint?: string): Storage {
  return createClient(createAccountClient(account, scopes[use], apiEndpoint), apiEndpoint);
}

/**
 * Creates a client of Cloud Storage, and changes three defaults of the library. Without these changes, the library
 * sends credentials only to Google's endpoint, retries earlier than Cloud Storage asks for, and omits the path of the
 * API if STORAGE_EMULATOR_HOST is set.
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

export function emulatorEndpoint(): string | undefined {
  const host = process.env.STORAGE_EMULATOR_HOST;
  if (host === undefined || host === '') return undefined;
  const origin = /^https?:\/\//.test(host) ? host : `http://${host}`;
  return origin.replace(/\/+$/, '');
}
