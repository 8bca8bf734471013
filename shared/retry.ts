import { setTimeout as sleep } from 'node:timers/promises';

/** The conditions and delays of retries. */
export interface RetryPolicy {
  /** The maximum number of attempts without progress, including the first. */
  readonly attempts: number;
  /** The maximum delay after the first failure; it doubles with each further one. */
  readonly initialDelayMs: number;
  readonly maxDelayMs: number;
  /** Whether an error is transient, so that a retry may succeed. */
  readonly isTransient: (reason: unknown) => boolean;
}

/** A counter of consecutive failures, which delays each retry longer than the last. */
export class Backoff {
  private readonly policy: RetryPolicy;
  private readonly signal: AbortSignal | undefined;
  private failures = 0;

  /** @param signal aborts a delay */
  constructor(policy: RetryPolicy, signal?: AbortSignal) {
    this.policy = policy;
    this.signal = signal;
  }

  /**
   * Counts a failure, and waits before the retry. Delays are random, so that callers that failed together do not retry
   * together.
   * @returns whether to retry: not after the last attempt, nor if the error is permanent
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

  /** Resets the count after progress. */
  progressed(): void {
    this.failures = 0;
  }
}

/** Retries until an attempt succeeds; throws the last attempt's error. */
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
