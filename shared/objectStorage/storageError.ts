import { z } from 'zod';
import { defined } from '../defined.ts';
import { IdentityError } from '../errors/identityError.ts';
import {
  bucketNotFound,
  keyRejected,
  objectCorrupted,
  objectExists,
  objectForbidden,
  objectNotFound,
  objectUri,
  storageRejected,
  storageUnavailable,
} from '../errors/storageErrors.ts';
import { parseRetryAfter, type RetryPolicy } from '../retry.ts';

/** An object, and the operation of the request on this object. */
export interface Target {
  readonly bucket: string;
  readonly path: string;
  readonly use: 'write' | 'read' | 'remove';
}

// The library throws two kinds of errors. An ApiError has the HTTP status in `code`. A GaxiosError has the HTTP status
// in `status`, or the name of a network error in `code`.
const libraryError = z.object({
  message: z.string(),
  code: z.union([z.number(), z.string()]).optional(),
  status: z.number().optional(),
});

const storageRoles = {
  write: 'Storage Object Creator',
  read: 'Storage Object Viewer',
  remove: 'Storage Object User',
} as const;

/**
 * Converts an error of the library. The library's errors contain the full request with its credentials, so the
 * `cause` of the returned error contains only the status or the code.
 */
export function storageError(reason: unknown, target: Target): IdentityError {
  if (reason instanceof IdentityError) return reason;
  const { status, code, cause, message } = describeFailure(reason);
  if (status === undefined && code === undefined) return IdentityError.from(reason);
  switch (status) {
    case 400:
      // The library may get a new token during a call, and the token endpoint may then reject the key.
      if (message.startsWith('invalid_grant')) return keyRejected({ at: objectUri(target) });
      return /crc32c|md5/i.test(message)
        ? objectCorrupted({ at: objectUri(target) })
        : storageRejected({ at: objectUri(target), status }, { cause });
    case 401:
      return keyRejected({ at: objectUri(target) });
    case 403:
      return objectForbidden({ at: objectUri(target), role: storageRoles[target.use] });
    case 404:
      return notFound(target, message);
    case 412:
      return objectExists({ at: objectUri(target) });
    default:
      return isTransient(reason) || status === undefined
        ? storageUnavailable(
            { at: objectUri(target) },
            { cause, ...defined({ retryAfterSeconds: statedSeconds(reason) }) },
          )
        : storageRejected({ at: objectUri(target), status }, { cause });
  }
}

/**
 * Returns whether an error is temporary. If so, another attempt may succeed. Examples are a failed connection and an
 * overloaded service.
 */
export function isTransient(reason: unknown): boolean {
  if (reason instanceof IdentityError) return false;
  const { status, code } = describeFailure(reason);
  if (status === undefined) return code !== undefined;
  return status === 408 || status === 429 || status >= 500;
}

// For an upload, only the bucket can be missing. For a read, the bucket or the object may be missing, and only the
// message shows which of them is missing.
function notFound(target: Target, message: string): IdentityError {
  const isBucketMissing = target.use === 'write' || message.includes('bucket does not exist');
  return isBucketMissing
    ? bucketNotFound({ at: objectUri(target), bucket: target.bucket })
    : objectNotFound({ at: objectUri(target) });
}

interface LibraryFailure {
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly message: string;
  readonly cause: Error;
}

/**
 * Returns the properties of an error that the library threw. The `cause` in these properties contains no credentials.
 */
export function describeFailure(reason: unknown): LibraryFailure {
  const parsed = libraryError.safeParse(reason);
  const { code, status, message } = parsed.success ? parsed.data : { message: '' };
  const httpStatus = status ?? (typeof code === 'number' ? code : undefined);
  const name = typeof code === 'string' ? code : undefined;
  const cause = new Error(`Cloud Storage: ${httpStatus ?? name ?? 'no response'}`);
  return { status: httpStatus, code: name, message, cause };
}

const MAX_ATTEMPTS = 7;

/**
 * Retries after transient errors. Ends after about ten seconds without progress, or later if Cloud Storage asks for a
 * longer pause; then throws the last error.
 */
export const storagePolicy: RetryPolicy = {
  attempts: (reason) => (isTransient(reason) ? MAX_ATTEMPTS : 1),
  initialDelayMs: 300,
  maxDelayMs: 10_000,
  statedSeconds,
};

export const convertedPolicy: RetryPolicy = {
  ...storagePolicy,
  attempts: (reason) => (storageUnavailable.is(reason) ? MAX_ATTEMPTS : 1),
};

const rejectedResponse = z.object({
  response: z.object({
    headers: z.union([
      z.instanceof(Headers).transform((headers) => headers.get('retry-after')),
      z.object({ 'retry-after': z.string() }).transform((headers) => headers['retry-after']),
    ]),
  }),
});

function statedSeconds(reason: unknown): number | undefined {
  if (reason instanceof IdentityError) return reason.retryAfterSeconds;
  return parseRetryAfter(rejectedResponse.safeParse(reason).data?.response.headers, Date.now());
}
