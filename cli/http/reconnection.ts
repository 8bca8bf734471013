import { setTimeout } from 'node:timers/promises';
import { shuttingDown } from '../../shared/errors/httpErrors.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import { placeLost, placeTimedOut, placeUnreachable } from '../../shared/errors/placeErrors.ts';
import { type ProgressOutput, span } from '../terminal/progress.ts';
import { isLater } from './laterResponse.ts';

const INITIAL_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;
/**
 * The default limit for the sum of all waits. If the server's process was killed, a supervisor restarts it within this
 * time.
 */
const DEFAULT_LIMIT_MS = 60_000;
/** The limit for the sum of all waits if the server states when the client may repeat the request. */
const STATED_LIMIT_MS = 300_000;
/** The time by which an attempt that timed out shortens the remaining waits. */
const TIMED_OUT_MS = 60_000;

interface Reconnecting {
  readonly output: Pick<ProgressOutput, 'retry'>;
  readonly signal: AbortSignal;
  /**
   * The limit for the sum of all waits. If absent, the limit is a minute, or five minutes if the server states when the
   * client may repeat the request.
   */
  readonly limitMs?: number | undefined;
  /** Returns true for an error after which to repeat the work. If absent, only a lost connection is such an error. */
  readonly isLost?: (error: unknown) => error is Error;
}

/**
 * Does work that calls servers, and repeats the work if a connection is lost. Waits before each repetition: a second at
 * first, then longer, up to 30 s, or as long as the server asks. The work must be idempotent.
 * @throws the last error when the sum of all waits reaches the limit; an error for which `isLost` returns false
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

function withPause(error: Error, pauseMs: number): Error {
  const note = `the server asks to wait ${span(pauseMs / 1_000)}; this command waits at most ${span(STATED_LIMIT_MS / 1_000)}`;
  return error instanceof IdentityError ? error.withNote(note) : error;
}

/**
 * True if the server sent no response or an incomplete response, or is shutting down. After any other error,
 * `reconnecting` does not repeat the work by default.
 */
export function isConnectionLost(error: unknown): error is Error {
  return [placeUnreachable, placeLost, placeTimedOut, shuttingDown].some((kind) => kind.is(error));
}

/** How to report the waits before repeated calls of a server, and how to stop them. */
export interface Patience {
  /** Called before each wait. If undefined, calls are not repeated. */
  readonly onRetry?: ProgressOutput['retry'] | undefined;
  readonly signal: AbortSignal;
}

/**
 * Calls a server. Repeats the call after errors for which `isRepeated` returns true.
 * @param isRepeated returns true for an error after which to repeat the call. If absent, the call is repeated only if
 * the response asks for a repetition
 * @throws the last error when the sum of all waits reaches the limit; an error for which `isRepeated` returns false
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
