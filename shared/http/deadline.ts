import { deadlineExceeded } from '../errors/errors.ts';
import { cancelled } from '../errors/httpErrors.ts';

/** Node's timers turn anything longer into one millisecond. */
const longestTimer = 2 ** 31 - 1;

/** The signal of one call; disposing it frees its timer and its listener, and does not abort it. */
export interface CallSignal extends Disposable {
  readonly signal: AbortSignal;
  /** Gives the call another time, in milliseconds from its begin. */
  limit(timeoutMs: number): void;
}

/**
 * Joins the two ends of a call in one signal, whose reason is the error to answer with:
 * CANCELLED when the client has left, DEADLINE_EXCEEDED when the time is over.
 *
 * @param clientSignal the request's own signal, aborted when the client leaves
 * @param timeoutMs milliseconds from now; undefined for no limit
 */
export function callSignal(clientSignal: AbortSignal, timeoutMs: number | undefined): CallSignal {
  const controller = new AbortController();
  const leave = () => controller.abort(cancelled());
  const expire = () => controller.abort(deadlineExceeded());
  const started = performance.now();
  const endAfter = (ms: number) => setTimeout(expire, Math.min(Math.ceil(ms), longestTimer));
  let timer = timeoutMs === undefined ? undefined : endAfter(timeoutMs);
  clientSignal.addEventListener('abort', leave, { once: true });
  if (clientSignal.aborted) leave();
  return {
    signal: controller.signal,
    limit(otherMs) {
      clearTimeout(timer);
      timer = endAfter(Math.max(1, otherMs - (performance.now() - started)));
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      clientSignal.removeEventListener('abort', leave);
    },
  };
}
