import { setTimeout } from 'node:timers/promises';

export const SECOND_MS = 1_000;
export const HOUR_MS = 3_600 * SECOND_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The clock that retries and rate limits use. Tests replace it. */
export interface Clock {
  /** Returns the milliseconds since a fixed but arbitrary moment. */
  now(): number;
  /** @throws the signal's reason if the signal aborts before the time has passed */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: async (milliseconds, signal) => {
    await setTimeout(milliseconds, undefined, { signal }).catch(() => signal?.throwIfAborted());
  },
};
