// Limits the number of bulk commits in flight to Firestore.

import { raceAbort } from '../../async.ts';
import { type Clock, systemClock } from '../../clock.ts';
import { isOverload } from './call.ts';

const START = 4;
const MAX = 16;
/** Only commits of at least this size are measured, because the latency of smaller commits is not comparable. */
const MEASURED_WRITES = 100;
/** The latency per write is acceptable below this multiple of the lowest latency. */
const TOLERANCE = 2;
/**
 * After each round of commits, the lowest latency is multiplied by this factor. Otherwise, records that take longer to
 * write would look like an overload.
 */
const AGEING = 1.05;

/**
 * Adapts the number of bulk commits in flight to the database: additive increase while the latency per write is stable,
 * multiplicative decrease when the database is overloaded.
 */
export class CommitLimiter {
  private readonly clock: Clock;
  private limit = START;
  private running = 0;
  private waiting: (() => void)[] = [];
  private halvedAt = Number.NEGATIVE_INFINITY;
  private round: number[] = [];
  private lowest = Number.POSITIVE_INFINITY;

  constructor(clock: Clock = systemClock) {
    this.clock = clock;
  }

  /** The number of commits that may be in flight now. */
  get allowed(): number {
    return this.limit;
  }

  /**
   * Runs one attempt of a commit when fewer than the allowed number are in flight. After the deadline, runs the attempt
   * immediately.
   * @throws the attempt's error; the signal's reason
   */
  async run<Result>(writes: number, attempt: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    while (this.running >= this.limit && signal?.aborted !== true) await this.release(signal);
    this.running++;
    const startedAt = this.clock.now();
    try {
      const result = await attempt();
      if (writes >= MEASURED_WRITES) this.measure((this.clock.now() - startedAt) / writes);
      return result;
    } catch (reason) {
      if (isOverload(reason)) this.halve(startedAt);
      throw reason;
    } finally {
      this.running--;
      // Wake all waiting calls: if only one call were woken and it was aborted, the others would keep waiting.
      for (const wake of this.waiting.splice(0)) wake();
    }
  }

  private release(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting.push(resolve);
    return signal === undefined ? promise : raceAbort(promise, signal);
  }

  /** Halves the limit once for all commits that were in flight at the same time. */
  private halve(startedAt: number): void {
    if (startedAt <= this.halvedAt) return;
    this.limit = Math.max(1, Math.floor(this.limit / 2));
    this.halvedAt = this.clock.now();
    this.round = [];
  }

  /** Records the latency per write. Adapts the limit each time as many commits have ended as may be in flight. */
  private measure(latency: number): void {
    this.round.push(latency);
    if (this.round.length < this.limit) return;
    const mean = this.round.reduce((sum, one) => sum + one, 0) / this.round.length;
    this.round = [];
    if (mean <= this.lowest * TOLERANCE) this.limit = Math.min(MAX, this.limit + 1);
    this.lowest = Math.min(this.lowest * AGEING, mean);
  }
}
