import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { storeContention, storeFailed, storeUnavailable } from '../../errors/errors.ts';
import { IdentityError } from '../../errors/identityError.ts';

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

/** For work that lost against other writers. */
export const contentionRule: RetryRule = {
  attempts: 10,
  firstPause: 20,
  longestPause: 1_000,
  isWorthwhile: (reason) =>
    statusOf(reason) === 'ABORTED' || (reason instanceof IdentityError && statusOf(reason.cause) === 'ABORTED'),
};

/** When a failed attempt is made again: `attempts` in all, the pauses doubling from `firstPause` to `longestPause` milliseconds. */
export interface RetryRule {
  readonly attempts: number;
  readonly firstPause: number;
  readonly longestPause: number;
  readonly isWorthwhile: (reason: unknown) => boolean;
}

/** For a database that cannot be reached for a moment: gives up after some seven seconds. */
export const passingRule: RetryRule = { attempts: 10, firstPause: 100, longestPause: 2_000, isWorthwhile: isPassing };

/** Makes attempts until one succeeds; the error of the last is passed on as it is. */
export async function retry<Result>(rule: RetryRule, attempt: () => Promise<Result>): Promise<Result> {
  for (let failures = 0; ; ) {
    try {
      return await attempt();
    } catch (reason) {
      failures += 1;
      if (failures >= rule.attempts || !rule.isWorthwhile(reason)) throw reason;
      await pause(rule, failures);
    }
  }
}

/** Waits before the next attempt. By chance, so that many that failed together do not come together again. */
export async function pause({ firstPause, longestPause }: RetryRule, failures: number): Promise<void> {
  await setTimeout(Math.random() * Math.min(longestPause, firstPause * 2 ** (failures - 1)));
}
