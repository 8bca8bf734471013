import { cancelled, deadlineExceeded } from '../errors/errors.ts';

/** Node's timers turn anything longer into one millisecond. */
const longestTimer = 2 ** 31 - 1;

/** The signal of one call; disposing it frees its timer and its listener, and does not abort it. */
export interface CallSignal extends Disposable {
  readonly signal: AbortSignal;
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
  const timer = timeoutMs === undefined ? undefined : setTimeout(expire, Math.min(Math.ceil(timeoutMs), longestTimer));
  clientSignal.addEventListener('abort', leave, { once: true });
  if (clientSignal.aborted) leave();
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      clientSignal.removeEventListener('abort', leave);
    },
  };
}
