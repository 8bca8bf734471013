import { setMaxListeners } from 'node:events';
import { raceAbort } from '../../async.ts';
import { type RetryPolicy, retry } from '../../retry.ts';

/** The deadline of one call of a function, for the operations of its store. */
export interface CallDeadline {
  /** Ends retries and waits. Its reason is the error of an operation that has not succeeded by then. */
  readonly signal: AbortSignal;
  /** Ends the attempts that are still in flight some seconds later, for the same reason. */
  readonly cut: AbortSignal;
}

/** For attempts that are in flight at the deadline, and the checkpoint that an import saves then. */
const GRACE_MS = 5_000;

/** Creates the deadline of a call that ends with `signal`. */
export function createDeadline(signal: AbortSignal): CallDeadline {
  const cut = new AbortController();
  const startGrace = () => setTimeout(() => cut.abort(signal.reason), GRACE_MS).unref();
  if (signal.aborted) startGrace();
  else signal.addEventListener('abort', startGrace, { once: true });
  // Each operation in flight adds a listener.
  setMaxListeners(0, signal, cut.signal);
  return { signal, cut: cut.signal };
}

/**
 * Retries an operation until it succeeds or the call's deadline. After the deadline it is attempted once, so that a call
 * can still save its progress.
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
