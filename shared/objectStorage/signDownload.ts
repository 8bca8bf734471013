import { GoogleAuth } from 'google-auth-library';
import { raceAbort } from '../async.ts';
import { defined } from '../defined.ts';
import { objectUri, signingFailed, signingForbidden } from '../errors/storageErrors.ts';
import { createClient, emulatorEndpoint, NO_PROJECT } from './cloudStorage.ts';
import type { WrittenObject } from './objectStorage.ts';
import { describeFailure } from './storageError.ts';

/** The narrowest scope that the IAM Credentials API accepts. */
const SIGNING_SCOPE = 'https://www.googleapis.com/auth/iam';

/**
 * A client must start a download within this time after the URL was signed. A download that has started may take
 * longer.
 */
const DOWNLOAD_MS = 10 * 60_000;

/**
 * Keeps the original error if signing fails. The library itself throws a different error, which contains only the
 * original message.
 */
class SigningAuth extends GoogleAuth {
  failure: unknown;

  override async sign(data: string, endpoint?: string): Promise<string> {
    try {
      return await super.sign(data, endpoint);
    } catch (reason) {
      this.failure = reason;
      throw reason;
    }
  }
}

/**
 * Signs a URL (V4) from which anyone can read one generation of an object. The application default credentials sign the
 * URL. If they are a key file, its private key signs. The account of a function signs by a call of `signBlob` in the
 * IAM Credentials API.
 * @param apiEndpoint the origin of an emulator of Cloud Storage and IAM Credentials; if absent, the value of
 * STORAGE_EMULATOR_HOST or, if that is unset, Google's origin
 * @throws IdentityError if the URL cannot be signed; the error contains the URI of the object. The signal's reason if
 * the signal aborts
 */
export async function signDownload(
  object: Pick<WrittenObject, 'bucket' | 'path' | 'generation'>,
  apiEndpoint: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const endpoint = apiEndpoint ?? emulatorEndpoint();
  const auth = new SigningAuth({ scopes: [SIGNING_SCOPE], projectId: NO_PROJECT });
  const file = createClient(auth, endpoint).bucket(object.bucket).file(object.path, { generation: object.generation });
  const now = Date.now();
  const signing = file.getSignedUrl({
    version: 'v4',
    action: 'read',
    accessibleAt: now,
    expires: now + DOWNLOAD_MS,
    ...defined({ signingEndpoint: endpoint && `${endpoint}/v1/projects/-/serviceAccounts/` }),
  });
  try {
    const [url] = await raceAbort(signing, signal);
    return url;
  } catch (reason) {
    signal.throwIfAborted();
    const { status, code, cause } = describeFailure(auth.failure ?? reason);
    if (status === 403) throw signingForbidden({ at: objectUri(object) }, { cause });
    throw signingFailed({ at: objectUri(object), failure: status ?? code ?? 'no credentials' }, { cause });
  }
}
