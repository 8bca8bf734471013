import { setTimeout as sleep } from 'node:timers/promises';
import { isTransient, storageError, type Target } from './storageFault.ts';

/** Counts failures in a row. */
export interface Retry {
  /** Waits before the next attempt, or throws our error for `reason` where another is useless or too many have failed. */
  pause(reason: unknown): Promise<undefined>;
  /** Something got through: the count starts anew. */
  progressed(): void;
}

const attempts = 6;
const firstWaitMs = 200;

/** At most six failures in a row, waiting 0.2 s, then twice as long each time (12.6 s in all), and not after an abort. */
export function createRetry(target: Target, signal: AbortSignal): Retry {
  let failures = 0;
  return {
    async pause(reason) {
      signal.throwIfAborted();
      failures++;
      if (failures > attempts || !isTransient(reason)) throw storageError(reason, target);
      const waitMs = firstWaitMs * 2 ** (failures - 1) * (0.5 + Math.random() / 2);
      await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      return undefined;
    },
    progressed() {
      failures = 0;
    },
  };
}
