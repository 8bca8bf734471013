import { setTimeout } from 'node:timers/promises';
import { shuttingDown } from '../../shared/errors/httpErrors.ts';
import { placeLost, placeTimedOut, placeUnreachable } from '../../shared/errors/placeErrors.ts';
import type { ProgressOutput } from '../terminal/progress.ts';

const INITIAL_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;
/** The default total wait. By then, a supervisor has restarted a killed process. */
const DEFAULT_LIMIT_MS = 60_000;
/** The wait that a timed-out attempt counts as, in milliseconds. */
const TIMED_OUT_MS = 60_000;

interface Reconnecting {
  readonly output: Pick<ProgressOutput, 'retry'>;
  readonly signal: AbortSignal;
  /** The longest total wait; a minute by default. */
  readonly limitMs?: number | undefined;
  /** Whether to repeat the work after an error; by default after a lost connection. */
  readonly isLost?: (error: unknown) => error is Error;
}

/**
 * Does work on places, and repeats it after a lost connection: after a second, then with growing delays. Only for
 * idempotent work: reads, and imports, which resume; never for deletions.
 * @throws the last attempt's error once the total wait reaches the limit; any other error immediately
 */
export async function reconnecting<Result>(
  { output, signal, limitMs = DEFAULT_LIMIT_MS, isLost = isConnectionLost }: Reconnecting,
  work: () => Promise<Result>,
): Promise<Result> {
  let leftMs = limitMs;
  let delayMs = INITIAL_DELAY_MS;
  for (;;) {
    const startedAt = performance.now();
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (performance.now() - startedAt > MAX_DELAY_MS) delayMs = INITIAL_DELAY_MS;
      if (placeTimedOut.is(error)) leftMs -= TIMED_OUT_MS;
      if (!isLost(error) || leftMs <= 0) throw error;
      delayMs = Math.min(delayMs, leftMs);
      output.retry(error.message, delayMs / 1_000);
      await setTimeout(delayMs, undefined, { signal });
      leftMs -= delayMs;
      delayMs = Math.min(2 * delayMs, MAX_DELAY_MS);
    }
  }
}

/** Whether a place sent no response or an incomplete response, or shuts down. Any other response is final. */
export function isConnectionLost(error: unknown): error is Error {
  return [placeUnreachable, placeLost, placeTimedOut, shuttingDown].some((kind) => kind.is(error));
}
