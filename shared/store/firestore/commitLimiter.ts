import { raceAbort } from '../../async.ts';
import { type Clock, systemClock } from '../../clock.ts';
import { isOverload } from './call.ts';

const START = 4;
const MAX = 16;
/**
 * Only the latency of commits with at least this number of writes is measured, because the latency per write of smaller
 * commits is not comparable.
 */
const MEASURED_WRITES = 100;
/** The latency per write is acceptable if it is at most this multiple of the lowest latency per write so far. */
const TOLERANCE = 2;
/**
 * After each round of commits, the remembered lowest latency grows by this factor. Otherwise, records that take longer
 * to write than earlier records would look like an overload.
 */
const AGEING = 1.05;

/**
 * Adapts the number of bulk commits in flight to the load of the database. Permits one more commit while the latency
 * per write is acceptable. Halves the number when the database is overloaded.
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

  get allowed(): number {
    return this.limit;
  }

  /**
   * Runs an attempt of a commit, as soon as the number of commits in flight is below the limit. After the deadline,
   * runs the attempt without waiting.
   * @throws the attempt's error; the signal's reason if the signal aborts during the wait
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
      // Wake all waiting calls. If only one call were woken and it had been aborted, the other calls would continue to
      // wait.
      for (const wake of this.waiting.splice(0)) wake();
    }
  }

  private release(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting.push(resolve);
    return signal === undefined ? promise : raceAbort(promise, signal);
  }

  /** Halves the limit, but only once for all commits that were in flight together. */
  private halve(startedAt: number): void {
    if (startedAt <= this.halvedAt) return;
    this.limit = Math.max(1, Math.floor(this.limit / 2));
    this.halvedAt = this.clock.now();
    this.round = [];
  }

  /** Changes the limit once per round, which ends when as many commits have been measured as may be in flight. */
  private measure(latency: number): void {
    this.round.push(latency);
    if (this.round.length < this.limit) return;
    const mean = this.round.reduce((sum, measured) => sum + measured, 0) / this.round.length;
    this.round = [];
    if (mean <= this.lowest * TOLERANCE) this.limit = Math.min(MAX, this.limit + 1);
    this.lowest = Math.min(this.lowest * AGEING, mean);
  }
}
