// Signed URLs of objects.

import { GoogleAuth } from 'google-auth-library';
import { raceAbort } from '../async.ts';
import { defined } from '../defined.ts';
import { objectUri, signingFailed, signingForbidden } from '../errors/storageErrors.ts';
import { createClient, emulatorEndpoint, NO_PROJECT } from './cloudStorage.ts';
import type { WrittenObject } from './objectStorage.ts';
import { describeFailure } from './storageError.ts';

/** The narrowest scope that IAM Credentials accepts. */
const SIGNING_SCOPE = 'https://www.googleapis.com/auth/iam';

/** A download must start within this time. A started download continues. */
const DOWNLOAD_MS = 10 * 60_000;

/** Remembers why signing failed, because the library's error contains only the message. */
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
 * Signs a URL (V4) from which anyone can read one generation of an object. Signs with the application default
 * credentials: with the private key of a service account, or by `signBlob` of IAM Credentials for a function's account.
 * @param apiEndpoint the origin of a stand-in for Cloud Storage and IAM Credentials; by default STORAGE_EMULATOR_HOST
 * if set, else Google's
 * @throws IdentityError with the object; the signal's reason
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
