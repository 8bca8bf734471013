// Deadlines, retries and errors of calls to Firestore.

import { setMaxListeners } from 'node:events';
import { grpc } from 'google-gax';
import { z } from 'zod';
import { raceAbort } from '../../async.ts';
import { storeContention, storeFailed, storeUnavailable } from '../../errors/storeErrors.ts';
import { type RetryPolicy, retry } from '../../retry.ts';

/** The deadline of a function's call, which limits the store operations of the call. */
export interface CallDeadline {
  /**
   * Aborts at the deadline, and ends retries and waits. An operation that has not succeeded by then throws the signal's
   * reason.
   */
  readonly signal: AbortSignal;
  /** Aborts a few seconds after `signal`, with the same reason, to end the attempts that are still in flight. */
  readonly cut: AbortSignal;
}

/**
 * The additional time after the deadline for attempts in flight, and for the remaining operations of a batch that has
 * begun.
 */
const GRACE_MS = 5_000;

/** Creates the deadline of a call that ends with `signal`. */
export function createDeadline(signal: AbortSignal): CallDeadline {
  const cut = new AbortController();
  const startGrace = () => setTimeout(() => cut.abort(signal.reason), GRACE_MS).unref();
  if (signal.aborted) startGrace();
  else signal.addEventListener('abort', startGrace, { once: true });
  // Each operation in flight adds a listener to these signals: do not warn about their number.
  setMaxListeners(0, signal, cut.signal);
  return { signal, cut: cut.signal };
}

/**
 * Retries an operation until it succeeds or the call's deadline expires. After the deadline, attempts the operation
 * once, so that a batch that has begun can still finish.
 * @throws the last attempt's error; the deadline's reason
 */
export function attemptUntil<Result>(
  deadline: CallDeadline | undefined,
  policy: RetryPolicy,
  attempt: () => Promise<Result>,
): Promise<Result> {
  if (deadline === undefined) return retry(policy, attempt);
  const { signal, cut } = deadline;
  const limited = async () => {
    cut.throwIfAborted();
    return await raceAbort(attempt(), cut);
  };
  return retry(policy, limited, signal);
}

const { status } = grpc;

const grpcError = z.object({ code: z.enum(status) });

/** Returns the gRPC status of a failed call; `undefined` for an error of another kind. */
export function grpcStatus(reason: unknown): grpc.status | undefined {
  return grpcError.safeParse(reason).data?.code;
}

function hasStatus(reason: unknown, ...statuses: readonly grpc.status[]): boolean {
  return statuses.some((status) => status === grpcStatus(reason));
}

function isTransientStatus(reason: unknown): boolean {
  const { UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, INTERNAL } = status;
  return hasStatus(reason, UNAVAILABLE, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, INTERNAL);
}

/**
 * Converts a failed call's error to an error without confidential details, with the original as cause. Returns other
 * errors unchanged.
 */
export function fromGrpcError(reason: unknown): unknown {
  const failure = grpcStatus(reason);
  if (failure === undefined) return reason;
  if (failure === status.ABORTED) return storeContention({}, { cause: reason });
  return isTransientStatus(reason)
    ? storeUnavailable({}, { cause: reason })
    : storeFailed({ reason: status[failure] }, { cause: reason });
}

/** Whether the database rejected a read because the state at the read time is too old. */
export function isReadTimeRejected(reason: unknown): boolean {
  return hasStatus(reason, status.INVALID_ARGUMENT, status.FAILED_PRECONDITION);
}

/** Whether the database is overloaded: it rejected a commit, or did not finish it in time. */
export function isOverload(reason: unknown): boolean {
  return hasStatus(reason, status.RESOURCE_EXHAUSTED, status.ABORTED, status.DEADLINE_EXCEEDED);
}

/**
 * The retry policy for transient errors: retries until the call's deadline, or for 25 seconds without a call. INTERNAL
 * can be permanent, so retries after it end after some seconds.
 */
export const transientPolicy: RetryPolicy = {
  attempts: (reason) => {
    if (!isTransientStatus(reason)) return 1;
    return hasStatus(reason, status.INTERNAL) ? 10 : Number.POSITIVE_INFINITY;
  },
  initialDelayMs: 100,
  maxDelayMs: 5_000,
  budgetMs: 25_000,
};

/**
 * The retry policy for commits. The server aborts a commit that contends with another commit, without applying any
 * write.
 */
export const commitPolicy: RetryPolicy = {
  ...transientPolicy,
  attempts: (reason) =>
    hasStatus(reason, status.ABORTED) ? Number.POSITIVE_INFINITY : transientPolicy.attempts(reason),
};
