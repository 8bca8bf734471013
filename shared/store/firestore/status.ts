import { z } from 'zod';
import { storeContention, storeFailed, storeUnavailable } from '../../errors/errors.ts';
import type { RetryPolicy } from '../../retry.ts';

const statusNames = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

type Status = (typeof statusNames)[number];

const grpcError = z.object({ code: z.int().nonnegative() });

const transient: readonly (Status | undefined)[] = [
  'UNAVAILABLE',
  'DEADLINE_EXCEEDED',
  'RESOURCE_EXHAUSTED',
  'INTERNAL',
];

/** Returns the gRPC status of a failed call; `undefined` for an error of another kind. */
export function grpcStatus(reason: unknown): Status | undefined {
  const { success, data } = grpcError.safeParse(reason);
  return success ? statusNames[data.code] : undefined;
}

/** Whether a failed call may succeed on retry. */
export function isTransient(reason: unknown): boolean {
  return transient.includes(grpcStatus(reason));
}

/** Converts a failed call's error to one that is safe to show, with the original as cause. Returns others unchanged. */
export function toStoreError(reason: unknown): unknown {
  const status = grpcStatus(reason);
  if (status === undefined) return reason;
  if (status === 'ABORTED') return storeContention(reason);
  return isTransient(reason) ? storeUnavailable(reason) : storeFailed(status, reason);
}

/** The policy for transient errors; gives up after about six seconds. */
export const transientPolicy: RetryPolicy = { attempts: 10, initialDelayMs: 100, maxDelayMs: 2_000, isTransient };
