// Units of time in milliseconds, and the clock that tests replace.

import { setTimeout } from 'node:timers/promises';

export const SECOND_MS = 1_000;
export const HOUR_MS = 3_600 * SECOND_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The clock of retries and rate limits, which tests replace. */
export interface Clock {
  /** Milliseconds since an arbitrary moment. */
  now(): number;
  /**
   * Waits for a time.
   * @throws the signal's reason
   */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** The system's time. */
export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: async (milliseconds, signal) => {
    await setTimeout(milliseconds, undefined, { signal }).catch(() => signal?.throwIfAborted());
  },
};
