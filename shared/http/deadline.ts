import { deadlineExceeded } from '../errors/errors.ts';
import { cancelled } from '../errors/httpErrors.ts';
import { UNLIMITED } from '../limitDefinition.ts';

/** The longest delay that Node's timers support. If a delay is longer, the timer fires after one millisecond. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The signal that ends a call. Dispose of this object after the call to remove the timer and the listeners; this does
 * not abort the signal.
 */
export interface CallSignal extends Disposable {
  readonly signal: AbortSignal;
  /** Sets the timeout in milliseconds, which count from the start of the call, not from now. */
  limit(timeoutMs: number): void;
  /** Undefined if the call has no timeout. */
  readonly msLeft: number | undefined;
  end(error: unknown): void;
}

/**
 * Creates a signal that aborts when there is any reason to end a call. The signal's reason is then the error of the
 * response. This error is CANCELLED if the client disconnected, DEADLINE_EXCEEDED if the timeout expired, otherwise the
 * reason of `shutdown` or the error passed to `end`.
 * @param clientSignal the signal of the request, which aborts when the client disconnects
 * @param timeoutMs milliseconds from now; undefined or infinite for no timeout
 * @param shutdown aborts when the server shuts down and ends its calls
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
