// Rate limits of bulk writes to Firestore.

import { createSerialQueue, raceAbort, type SerialQueue } from '../../async.ts';
import { type Clock, systemClock } from '../../clock.ts';
import type { Collection, Write } from '../store.ts';
import { isOverload } from './call.ts';

const START = 4;
const MAX = 16;
/** Smaller commits are not measured, because their latency differs from bulk work. */
const MEASURED_WRITES = 100;
/** The latency of a write is acceptable below this multiple of the lowest. */
const TOLERANCE = 2;
/** The lowest latency becomes outdated by this factor with each round: other records take longer. */
const AGEING = 1.05;

/**
 * A limiter of bulk commits in flight that adapts to the database: additive increase while the latency of a write is stable,
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

  /** The number of commits that may be in flight at present. */
  get allowed(): number {
    return this.limit;
  }

  /**
   * Runs one attempt of a commit when fewer than the allowed ones are in flight; after the deadline, immediately.
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
      // Wakes all waiting calls, because an aborted one would not pass its turn on.
      for (const wake of this.waiting.splice(0)) wake();
    }
  }

  private release(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.waiting.push(resolve);
    return signal === undefined ? promise : raceAbort(promise, signal);
  }

  /** Halves the limit, once for all commits that were in flight together. */
  private halve(startedAt: number): void {
    if (startedAt <= this.halvedAt) return;
    this.limit = Math.max(1, Math.floor(this.limit / 2));
    this.halvedAt = this.clock.now();
    this.round = [];
  }

  /** Records the latency of a write, and adapts the limit after as many commits as may be in flight. */
  private measure(latency: number): void {
    this.round.push(latency);
    if (this.round.length < this.limit) return;
    const mean = this.round.reduce((sum, one) => sum + one, 0) / this.round.length;
    this.round = [];
    if (mean <= this.lowest * TOLERANCE) this.limit = Math.min(MAX, this.limit + 1);
    this.lowest = Math.min(this.lowest * AGEING, mean);
  }
}

/** Google's rule for a new collection: 500 operations a second at first, and half as many more every five minutes. */
const START_PER_SECOND = 500;
const GROWTH = 1.5;
const STEP_MS = 300_000;

/** The writes to a collection that need not wait, so that small imports are not slowed. */
const BURST = 10_000;
/** The documents that the rule admits in its first five minutes: a collection with fewer of them counts as new. */
const NEW_BELOW = (START_PER_SECOND * STEP_MS) / 1_000;

/** Counts a collection's documents, up to a limit. */
export type CountDocuments = (collection: Collection, limit: number) => Promise<number>;

/**
 * The rate limit of bulk writes to new collections, which Firestore has not divided among its servers yet. A collection
 * is counted only after its burst is spent.
 */
export class Ramp {
  private readonly buckets = new Map<Collection, Bucket>();
  private readonly clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.clock = clock;
  }

  /**
   * Resolves when the writes may be sent.
   * @throws the signal's reason; the error of a count
   */
  async admit(writes: readonly Write[], count: CountDocuments, signal?: AbortSignal): Promise<void> {
    const counts = new Map<Collection, number>();
    for (const { key } of writes) counts.set(key.collection, (counts.get(key.collection) ?? 0) + 1);
    const taken = [...counts].map(([collection, number]) => {
      const bucket = this.buckets.get(collection) ?? new Bucket(this.clock);
      this.buckets.set(collection, bucket);
      return bucket.take(number, () => count(collection, NEW_BELOW), signal);
    });
    await Promise.all(taken);
  }
}

/** The token bucket of one collection. */
class Bucket {
  private readonly clock: Clock;
  private readonly inTurn: SerialQueue = createSerialQueue();
  private tokens = BURST;
  private filledAt: number;
  /** The moment when the ramp began; undefined before the burst is spent. */
  private beganAt: number | undefined;
  private isNew = true;

  constructor(clock: Clock) {
    this.clock = clock;
    this.filledAt = clock.now();
  }

  /** Takes tokens, in the order of the calls. A bucket that is not empty may go into debt. */
  take(number: number, count: () => Promise<number>, signal: AbortSignal | undefined): Promise<void> {
    return this.inTurn(async () => {
      while (this.isNew) {
        this.fill();
        if (this.tokens > 0) break;
        signal?.throwIfAborted();
        if (this.beganAt === undefined) await this.begin(count);
        else await this.clock.sleep(((1 - this.tokens) / this.perSecond) * 1_000, signal);
      }
      this.tokens -= number;
    });
  }

  private async begin(count: () => Promise<number>): Promise<void> {
    this.isNew = (await count()) < NEW_BELOW;
    this.beganAt = this.clock.now();
  }

  private get perSecond(): number {
    const elapsedMs = this.beganAt === undefined ? 0 : this.clock.now() - this.beganAt;
    return START_PER_SECOND * GROWTH ** Math.floor(elapsedMs / STEP_MS);
  }

  private fill(): void {
    const now = this.clock.now();
    this.tokens = Math.min(BURST, this.tokens + ((now - this.filledAt) / 1_000) * this.perSecond);
    this.filledAt = now;
    // The ramp is for sustained load: after a pause it begins again, unless the collection has grown.
    if (this.tokens === BURST) this.beganAt = undefined;
  }
}
