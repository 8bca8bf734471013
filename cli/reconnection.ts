import { setTimeout } from 'node:timers/promises';
import { placeBroke, placeLost, placeTimedOut, placeUnreachable } from '../shared/errors/placeErrors.ts';
import type { ProgressOutput } from './progress.ts';

const INITIAL_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;
/** A process that was killed is back by then, where something starts it again. */
const DEFAULT_LIMIT_MS = 60_000;
/** How long a place has been waited for that did not respond in time. */
const TIMED_OUT_MS = 60_000;

interface Reconnecting {
  readonly output: Pick<ProgressOutput, 'retry'>;
  readonly signal: AbortSignal;
  /** The longest time to wait in all; by default a minute. */
  readonly limitMs: number | undefined;
}

/**
 * Does work on places, again whenever the connection to one of them is lost: after a second, then each time later, unless
 * the work lasted. Only for work that may be repeated: reads, and imports, which resume; never for deletions.
 * @throws the last attempt's error, once the waits have taken as long as the limit; any other error at once
 */
export async function reconnecting<Result>(
  { output, signal, limitMs = DEFAULT_LIMIT_MS }: Reconnecting,
  work: () => Promise<Result>,
): Promise<Result> {
  let [leftMs, delayMs] = [limitMs, INITIAL_DELAY_MS];
  for (;;) {
    const startedAt = performance.now();
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (performance.now() - startedAt > MAX_DELAY_MS) delayMs = INITIAL_DELAY_MS;
      if (placeTimedOut.is(error)) leftMs -= TIMED_OUT_MS;
      if (!isConnectionLost(error) || leftMs <= 0) throw error;
      delayMs = Math.min(delayMs, leftMs);
      output.retry(error.message, delayMs / 1_000);
      await setTimeout(delayMs, undefined, { signal });
      leftMs -= delayMs;
      delayMs = Math.min(2 * delayMs, MAX_DELAY_MS);
    }
  }
}

/** Whether a place did not answer at all, or not to the end. What it answers with a status is its answer. */
function isConnectionLost(error: unknown): error is Error {
  return [placeUnreachable, placeBroke, placeLost, placeTimedOut].some((kind) => kind.is(error));
}
