import { z } from 'zod';
import { IdentityError } from '../errors/identityError.ts';
import {
  bucketNotFound,
  keyRejected,
  objectCorrupted,
  objectExists,
  objectForbidden,
  objectNotFound,
  storageRejected,
  storageUnavailable,
} from '../errors/storageErrors.ts';
import type { RetryPolicy } from '../retry.ts';

/** An object, and what was to be done with it. */
export interface Target {
  readonly bucket: string;
  readonly path: string;
  readonly use: 'write' | 'read';
}

// The library has two kinds of errors: ApiError has the status in `code`, GaxiosError in `status` and a network error in `code`.
const libraryError = z.object({
  message: z.string(),
  code: z.union([z.number(), z.string()]).optional(),
  status: z.number().optional(),
});

const roles = { write: 'Storage Object Creator', read: 'Storage Object Viewer' } as const;

/**
 * Our error for what the library threw. Only the status and the code are taken over: the library's errors carry the
 * whole request.
 */
export function storageError(reason: unknown, target: Target): IdentityError {
  if (reason instanceof IdentityError) return reason;
  const { status, code, cause, message } = describe(reason);
  if (status === undefined && code === undefined) return IdentityError.from(reason);
  switch (status) {
    case 400:
      return /crc32c|md5/i.test(message) ? objectCorrupted(target) : storageRejected(target, status, cause);
    case 401:
      return keyRejected(target);
    case 403:
      return objectForbidden(target, roles[target.use]);
    case 404:
      return missing(target, message);
    case 412:
      return objectExists(target);
    default:
      return isTransient(reason) || status === undefined
        ? storageUnavailable(target, cause)
        : storageRejected(target, status, cause);
  }
}

/** Whether the same request can succeed later: the connection failed, or the service is overloaded or out of order. */
function isTransient(reason: unknown): boolean {
  if (reason instanceof IdentityError) return false;
  const { status, code } = describe(reason);
  if (status === undefined) return code !== undefined;
  return status === 408 || status === 429 || status >= 500;
}

// An upload can miss only the bucket. A read that misses the bucket is told so in words alone.
function missing(target: Target, message: string): IdentityError {
  const noBucket = target.use === 'write' || message.includes('bucket does not exist');
  return noBucket ? bucketNotFound(target) : objectNotFound(target);
}

interface Description {
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly message: string;
  readonly cause: Error;
}

function describe(reason: unknown): Description {
  const parsed = libraryError.safeParse(reason);
  const { code, status, message } = parsed.success ? parsed.data : { message: '' };
  const number = status ?? (typeof code === 'number' ? code : undefined);
  const word = typeof code === 'string' ? code : undefined;
  return { status: number, code: word, message, cause: new Error(`Cloud Storage: ${number ?? word ?? 'no answer'}`) };
}

/** For a service that cannot be reached for a moment: gives up after some ten seconds without progress. */
export const storagePolicy: RetryPolicy = { attempts: 7, initialDelayMs: 300, maxDelayMs: 10_000, isTransient };
