import { setMaxListeners } from 'node:events';
import { grpc } from 'google-gax';
import { z } from 'zod';
import { raceAbort } from '../../async.ts';
import { storeContention, storeFailed, storeUnavailable } from '../../errors/storeErrors.ts';
import { type RetryPolicy, retry } from '../../retry.ts';

/** The deadline of a call of a function. It applies to all database operations of this call. */
export interface CallDeadline {
  /**
   * Aborts at the deadline. Then retries and waits end, and an operation that has not succeeded throws the signal's
   * reason.
   */
  readonly signal: AbortSignal;
  /** Aborts some seconds after `signal`, with the same reason. Attempts that are still in flight then end. */
  readonly cut: AbortSignal;
}

/**
 * The milliseconds between `signal` and `cut`. In this time, attempts in flight and the remaining operations of a batch
 * may still succeed.
 */
const GRACE_MS = 5_000;

export function createDeadline(signal: AbortSignal): CallDeadline {
  const cut = new AbortController();
  const startGrace = () => setTimeout(() => cut.abort(signal.reason), GRACE_MS).unref();
  if (signal.aborted) startGrace();
  else signal.addEventListener('abort', startGrace, { once: true });
  // Each operation in flight adds a listener to these signals, so disable Node's warning about many listeners.
  setMaxListeners(0, signal, cut.signal);
  return { signal, cut: cut.signal };
}

/**
 * Retries an operation until it succeeds or the deadline of the call passes. If the deadline has passed before the
 * first attempt, attempts the operation once, so that a batch that has begun can finish.
 * @throws the last attempt's error if no further retry is permitted; the signal's reason if the deadline passes
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

/** Returns the status of an error from gRPC; undefined for any other error. */
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
 * Converts the error of a gRPC call to an error whose text contains no confidential details; the original error is the
 * cause. Returns other errors unchanged.
 */
export function fromGrpcError(reason: unknown): unknown {
  const failure = grpcStatus(reason);
  if (failure === undefined) return reason;
  if (failure === status.ABORTED) return storeContention({}, { cause: reason });
  return isTransientStatus(reason)
    ? storeUnavailable({}, { cause: reason })
    : storeFailed({ reason: status[failure] }, { cause: reason });
}

/** Returns whether the database rejected a read because it no longer has the requested past state. */
export function isReadTimeRejected(reason: unknown): boolean {
  return hasStatus(reason, status.INVALID_ARGUMENT, status.FAILED_PRECONDITION);
}

/**
 * Returns whether the error of a commit shows that the database is overloaded: it rejected the commit, or did not
 * finish the commit in time.
 */
export function isOverload(reason: unknown): boolean {
  return hasStatus(reason, status.RESOURCE_EXHAUSTED, status.ABORTED, status.DEADLINE_EXCEEDED);
}

/**
 * The policy for temporary errors: retry until the call's deadline, or for 25 seconds if there is no call. INTERNAL can
 * be permanent, so there are only ten attempts after INTERNAL.
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
 * The policy for commits. In contrast to other operations, a commit is retried after ABORTED too: if two commits
 * contend, the server aborts one of them without applying its writes.
 */
export const commitPolicy: RetryPolicy = {
  ...transientPolicy,
  attempts: (reason) =>
    hasStatus(reason, status.ABORTED) ? Number.POSITIVE_INFINITY : transientPolicy.attempts(reason),
};
