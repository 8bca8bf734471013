import { setTimeout } from 'node:timers/promises';
import { isPassing } from './status.ts';

/** When a failed attempt is made again: `attempts` in all, the pauses doubling from `firstPause` to `longestPause` milliseconds. */
export interface RetryRule {
  readonly attempts: number;
  readonly firstPause: number;
  readonly longestPause: number;
  readonly isWorthwhile: (reason: unknown) => boolean;
}

/** For a database that cannot be reached for a moment: gives up after some seven seconds. */
export const passingRule: RetryRule = { attempts: 10, firstPause: 100, longestPause: 2_000, isWorthwhile: isPassing };

/** Makes attempts until one succeeds; the error of the last is passed on as it is. */
export async function retry<Result>(rule: RetryRule, attempt: () => Promise<Result>): Promise<Result> {
  for (let failures = 0; ; ) {
    try {
      return await attempt();
    } catch (reason) {
      failures += 1;
      if (failures >= rule.attempts || !rule.isWorthwhile(reason)) throw reason;
      await pause(rule, failures);
    }
  }
}

/** Waits before the next attempt. By chance, so that many that failed together do not come together again. */
export async function pause({ firstPause, longestPause }: RetryRule, failures: number): Promise<void> {
  await setTimeout(Math.random() * Math.min(longestPause, firstPause * 2 ** (failures - 1)));
}
