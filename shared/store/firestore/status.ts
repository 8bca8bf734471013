import { z } from 'zod';
import { storeContention, storeFailed, storeUnavailable } from '../../errors/errors.ts';

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

const passing: readonly (Status | undefined)[] = ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'RESOURCE_EXHAUSTED', 'INTERNAL'];

/** The gRPC status of what a call failed with; `undefined` for an error of another kind. */
export function statusOf(reason: unknown): Status | undefined {
  const { success, data } = grpcError.safeParse(reason);
  return success ? statusNames[data.code] : undefined;
}

/** Whether the same call may well succeed a little later. */
export function isPassing(reason: unknown): boolean {
  return passing.includes(statusOf(reason));
}

/** A failed call's error as one that can be shown, with the library's own as its cause; other errors as they are. */
export function toStoreError(reason: unknown): unknown {
  const status = statusOf(reason);
  if (status === undefined) return reason;
  if (status === 'ABORTED') return storeContention(reason);
  return isPassing(reason) ? storeUnavailable(reason) : storeFailed(status, reason);
}
