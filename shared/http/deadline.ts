// Signals that abort at a call's deadline.

import { deadlineExceeded } from '../errors/errors.ts';
import { cancelled } from '../errors/httpErrors.ts';
import { UNLIMITED } from '../limitDefinition.ts';

/** The longest delay of Node's timers. With a longer delay, a timer fires after one millisecond. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** The signal of one call. Disposing of it removes the timer and the listeners, and does not abort the call. */
export interface CallSignal extends Disposable {
  readonly signal: AbortSignal;
  /** Replaces the call's timeout, which counts from the call's start. */
  limit(timeoutMs: number): void;
  /** The milliseconds until the call's timeout; undefined without a timeout. */
  readonly msLeft: number | undefined;
  /** Ends the call with an error. */
  end(error: unknown): void;
}

/**
 * Combines all reasons to end a call in one signal. The signal's reason is the error to respond with: CANCELLED if the
 * client disconnected, DEADLINE_EXCEEDED if the timeout expired, or else the reason of `shutdown` or `end`.
 * @param clientSignal the request's signal, which aborts when the client disconnects
 * @param timeoutMs milliseconds from now; undefined or infinite for no limit
 * @param shutdown aborts when the server ends its calls
 */
export function callSignal(
  clientSignal: AbortSignal,
  timeoutMs: number | undefined,
  shutdown?: AbortSignal,
): CallSignal {
  const controller = new AbortController();
  const cancel = () => controller.abort(cancelled());
  const expire = () => controller.abort(deadlineExceeded());
  const shutDown = () => controller.abort(shutdown?.reason);
  const started = performance.now();
  const startTimer = (ms: number) => setTimeout(expire, Math.min(Math.ceil(ms), MAX_TIMER_MS));
  let limitMs = timeoutMs === undefined || timeoutMs === UNLIMITED ? undefined : timeoutMs;
  let timer = limitMs === undefined ? undefined : startTimer(limitMs);
  clientSignal.addEventListener('abort', cancel, { once: true });
  if (clientSignal.aborted) cancel();
  shutdown?.addEventListener('abort', shutDown, { once: true });
  if (shutdown?.aborted) shutDown();
  return {
    signal: controller.signal,
    limit(newTimeoutMs) {
      clearTimeout(timer);
      limitMs = newTimeoutMs;
      timer = startTimer(Math.max(1, newTimeoutMs - (performance.now() - started)));
    },
    get msLeft() {
      return limitMs === undefined ? undefined : limitMs - (performance.now() - started);
    },
    end(error) {
      controller.abort(error);
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      clientSignal.removeEventListener('abort', cancel);
      shutdown?.removeEventListener('abort', shutDown);
    },
  };
}
