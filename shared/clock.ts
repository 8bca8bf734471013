import { setTimeout } from 'node:timers/promises';

/** The time as retries and rate limits see it; tests replace it. */
export interface Clock {
  /** Milliseconds since an arbitrary moment. */
  now(): number;
  /** @throws the signal's reason */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** The system's time. */
export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: async (milliseconds, signal) => {
    await setTimeout(milliseconds, undefined, { signal }).catch(() => signal?.throwIfAborted());
  },
};
