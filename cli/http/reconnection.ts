import { setTimeout } from 'node:timers/promises';
import { shuttingDown } from '../../shared/errors/httpErrors.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { placeLost, placeTimedOut, placeUnreachable } from '../../shared/errors/placeErrors.ts';
import { type ProgressOutput, span } from '../terminal/progress.ts';
import { isLater } from './laterResponse.ts';

const INITIAL_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;
/** The default for the longest total wait. In that time, a supervisor restarts a killed process. */
const DEFAULT_LIMIT_MS = 60_000;
/** The longest total wait if the server states when the client may repeat the work. */
const STATED_LIMIT_MS = 300_000;
/** The time that a timed-out attempt adds to the total wait. */
const TIMED_OUT_MS = 60_000;

interface Reconnecting {
  readonly output: Pick<ProgressOutput, 'retry'>;
  readonly signal: AbortSignal;
  /**
   * The longest total wait. By default, a minute, or five minutes if the server states the time of the next attempt.
   */
  readonly limitMs?: number | undefined;
  /** Whether to repeat the work after an error; by default after a lost connection. */
  readonly isLost?: (error: unknown) => error is Error;
}

/**
 * Does work on places, and repeats it after a lost connection. Waits a second, then longer and longer, or as long as
 * the server asks. The work must be idempotent.
 * @throws the last attempt's error after the longest total wait; any other error immediately
 */
export async function reconnecting<Result>(
  { output, signal, limitMs = DEFAULT_LIMIT_MS, isLost = isConnectionLost }: Reconnecting,
  work: () => Promise<Result>,
): Promise<Result> {
  let waitedMs = 0;
  let delayMs = INITIAL_DELAY_MS;
  for (;;) {
    const startedAt = performance.now();
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (performance.now() - startedAt > MAX_DELAY_MS) delayMs = INITIAL_DELAY_MS;
      if (placeTimedOut.is(error)) waitedMs += TIMED_OUT_MS;
      if (!isLost(error)) throw error;
      const statedMs = isLater(error) ? error.retryAfterSeconds * 1_000 : 0;
      const leftMs = (statedMs > 0 ? Math.max(limitMs, STATED_LIMIT_MS) : limitMs) - waitedMs;
      if (leftMs <= 0 || statedMs > leftMs) throw statedMs > 0 ? withPause(error, statedMs) : error;
      const pauseMs = Math.min(Math.max(delayMs, statedMs), leftMs);
      output.retry(error instanceof IdentityError ? error.text : error.message, pauseMs / 1_000);
      await setTimeout(pauseMs, undefined, { signal });
      waitedMs += pauseMs;
      delayMs = Math.min(2 * delayMs, MAX_DELAY_MS);
    }
  }
}

/** Adds a note to an error: the server asks for a longer wait than this command accepts. */
function withPause(error: Error, pauseMs: number): Error {
  const note = `the server asks to wait ${span(pauseMs / 1_000)}; this command waits at most ${span(STATED_LIMIT_MS / 1_000)}`;
  return error instanceof IdentityError ? error.withNote(note) : error;
}

/** Whether a place sent no response or an incomplete response, or is shutting down. Any other response is final. */
export function isConnectionLost(error: unknown): error is Error {
  return [placeUnreachable, placeLost, placeTimedOut, shuttingDown].some((kind) => kind.is(error));
}

/** Settings for repeated calls of a server: the longest wait, and how to report a wait. */
export interface Patience {
  /** Reports a wait before a repetition. If undefined, no call is repeated. */
  readonly onRetry?: ProgressOutput['retry'] | undefined;
  readonly signal: AbortSignal;
}

/**
 * Calls a server, and repeats the call after some errors.
 * @param isRepeated whether to repeat the call after an error; by default if the response asks for a repetition
 * @throws the last attempt's error after the longest total wait; any other error immediately
 */
export function patiently<Result>(
  { onRetry, signal }: Patience,
  call: () => Promise<Result>,
  isRepeated: (error: unknown) => boolean = isLater,
): Promise<Result> {
  if (onRetry === undefined) return call();
  const isLost = (error: unknown): error is Error => error instanceof Error && isRepeated(error);
  return reconnecting({ output: { retry: onRetry }, signal, isLost }, call);
}
