import type { Clock } from '../../shared/clock.ts';

/** A clock whose time passes only during sleeps, or when the test moves it. */
export interface ManualClock extends Clock {
  /** The sleeps so far, in milliseconds. */
  readonly sleeps: readonly number[];
  advance(milliseconds: number): void;
}

/** Creates a clock at 0. */
export function createManualClock(): ManualClock {
  const sleeps: number[] = [];
  let time = 0;
  return {
    sleeps,
    now: () => time,
    sleep: async (milliseconds, signal) => {
      signal?.throwIfAborted();
      sleeps.push(milliseconds);
      time += milliseconds;
    },
    advance: (milliseconds) => {
      time += milliseconds;
    },
  };
}
