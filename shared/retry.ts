import { type Clock, systemClock } from './clock.ts';

export interface RetryPolicy {
  /**
   * Called with the error of the last attempt. Returns the number of consecutive attempts that may fail: 1 for a
   * permanent error, Infinity for retries without limit.
   */
  readonly attempts: (reason: unknown) => number;
  /** The maximum delay after the first failure, in milliseconds. Each further failure doubles the maximum. */
  readonly initialDelayMs: number;
  readonly maxDelayMs: number;
  /**
   * Called with the error of the last attempt. Returns the seconds for which the server asks the client to wait;
   * undefined if the server does not ask for a wait.
   */
  readonly statedSeconds?: (reason: unknown) => number | undefined;
  /**
   * The milliseconds without progress after which the retries end. Ignored if the caller passes a signal. If absent,
   * time does not end the retries.
   */
  readonly budgetMs?: number;
}

/** The longest wait in milliseconds that a server may ask for. If a server asks for a longer wait, the retries end. */
const MAX_STATED_MS = 300_000;

export class Backoff {
  private readonly policy: RetryPolicy;
  private readonly signal: AbortSignal | undefined;
  private readonly clock: Clock;
  private failures = 0;
  private endsAt = Number.POSITIVE_INFINITY;

  /** @param signal ends the retries and the current delay, for example at the deadline of a call */
  constructor(policy: RetryPolicy, signal?: AbortSignal, clock: Clock = systemClock) {
    this.policy = policy;
    this.signal = signal;
    this.clock = clock;
  }

  /**
   * Counts a failure, and waits before the retry. The delay is random, so that callers whose attempts failed together
   * do not retry together.
   * @returns false if no retry is permitted, for example after the last attempt or a permanent error
   * @throws the signal's reason if the signal aborts
   */
  async failed(reason: unknown): Promise<boolean> {
    this.signal?.throwIfAborted();
    const { attempts, initialDelayMs, maxDelayMs, budgetMs = Number.POSITIVE_INFINITY, statedSeconds } = this.policy;
    if (this.failures === 0 && this.signal === undefined) this.endsAt = this.clock.now() + budgetMs;
    this.failures++;
    const remaining = this.endsAt - this.clock.now();
    if (this.failures >= attempts(reason) || remaining <= 0) return false;
    const statedMs = 1_000 * (statedSeconds?.(reason) ?? 0);
    if (statedMs > MAX_STATED_MS) return false;
    const delay = Math.max(statedMs, Math.random() * Math.min(maxDelayMs, initialDelayMs * 2 ** (this.failures - 1)));
    await this.clock.sleep(Math.min(delay, remaining), this.signal);
    return true;
  }

  progressed(): void {
    this.failures = 0;
  }
}

/**
 * Retries until an attempt succeeds. If no further retry is permitted, throws the last attempt's error.
 * @example
 *     const policy = { attempts: () => 3, initialDelayMs: 100, maxDelayMs: 1_000 };
 *     const response = await retry(policy, () => fetch(url));
 * @param signal aborts at the call's deadline; this function then throws its reason instead of a transient error
 */
export async function retry<Result>(
  policy: RetryPolicy,
  attempt: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const backoff = new Backoff(policy, signal);
  for (;;) {
    try {
      return await attempt();
    } catch (reason) {
      // Throw a permanent error even if the deadline has passed. For example, a failed precondition shows the caller
      // the state of the database; the deadline's error would not.
      const isPermanent = policy.attempts(reason) <= 1;
      if (isPermanent || !(await backoff.failed(reason))) throw reason;
    }
  }
}

/**
 * Parses the value of a header `Retry-After` (RFC 9110, 10.2.3), which contains seconds or an HTTP date.
 * @returns seconds; undefined for a missing or invalid value
 */
export function parseRetryAfter(header: string | null | undefined, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  // Accept a date only if it begins with a letter, because `Date.parse` accepts numbers such as -1 as years.
  const date = /^[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - nowMs) / 1_000));
}
