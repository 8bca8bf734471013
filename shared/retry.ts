import { setTimeout as sleep } from 'node:timers/promises';

/** When a failed attempt is repeated. */
export interface RetryPolicy {
  /** Attempts in a row, the first one included. */
  readonly attempts: number;
  /** The longest delay after the first failure; it doubles with each further one. */
  readonly initialDelayMs: number;
  readonly maxDelayMs: number;
  /** Whether the same attempt may succeed a little later. */
  readonly isTransient: (reason: unknown) => boolean;
}

/** Counts failures in a row, and delays the next attempt longer after each. */
export class Backoff {
  private readonly policy: RetryPolicy;
  private readonly signal: AbortSignal | undefined;
  private failures = 0;

  /** @param signal ends a delay */
  constructor(policy: RetryPolicy, signal?: AbortSignal) {
    this.policy = policy;
    this.signal = signal;
  }

  /**
   * Notes a failure, and waits before the next attempt. Delays are random, so that callers that failed together do not
   * return together.
   * @returns whether to try again: not after the last attempt, nor where the reason is permanent
   * @throws the signal's reason
   */
  async failed(reason: unknown): Promise<boolean> {
    this.signal?.throwIfAborted();
    this.failures++;
    const { attempts, initialDelayMs, maxDelayMs, isTransient } = this.policy;
    if (this.failures >= attempts || !isTransient(reason)) return false;
    const delay = Math.random() * Math.min(maxDelayMs, initialDelayMs * 2 ** (this.failures - 1));
    await sleep(delay, undefined, { signal: this.signal }).catch(() => this.signal?.throwIfAborted());
    return true;
  }

  /** Notes progress: the count starts anew. */
  progressed(): void {
    this.failures = 0;
  }
}

/** Repeats an attempt until one succeeds; passes on the last one's error. */
export async function retry<Result>(policy: RetryPolicy, attempt: () => Promise<Result>): Promise<Result> {
  const backoff = new Backoff(policy);
  for (;;) {
    try {
      return await attempt();
    } catch (reason) {
      if (!(await backoff.failed(reason))) throw reason;
    }
  }
}
