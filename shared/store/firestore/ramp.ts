import { createSerialQueue, type SerialQueue } from '../../async.ts';
import { type Clock, systemClock } from '../../clock.ts';
import type { Collection, Write } from '../store.ts';

/** Google's rule for a new collection: 500 operations a second at first, and half as many more every five minutes. */
const START_PER_SECOND = 500;
const GROWTH = 1.5;
const STEP_MS = 300_000;

/** Returns how many operations a second the rule admits so many milliseconds after a collection's first ones. */
export function admittedPerSecond(elapsedMs: number): number {
  return START_PER_SECOND * GROWTH ** Math.floor(elapsedMs / STEP_MS);
}

/** The writes to a collection that need not wait, so that small imports are not slowed. */
const BURST = 10_000;
/** The documents that the rule admits in its first five minutes: a collection with fewer of them counts as new. */
const NEW_BELOW = (START_PER_SECOND * STEP_MS) / 1_000;

/** Counts a collection's documents, up to a limit. */
export type CountDocuments = (collection: Collection, limit: number) => Promise<number>;

/**
 * The rate limit of bulk writes to new collections, which Firestore has not divided among its servers yet. A collection
 * is looked at only after its burst is spent.
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

  /** Takes tokens, in the order of the calls. A bucket that is not empty gives more than it has, and then owes them. */
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
    return admittedPerSecond(this.beganAt === undefined ? 0 : this.clock.now() - this.beganAt);
  }

  private fill(): void {
    const now = this.clock.now();
    this.tokens = Math.min(BURST, this.tokens + ((now - this.filledAt) / 1_000) * this.perSecond);
    this.filledAt = now;
    // The ramp is for sustained load: after a pause it begins again, unless the collection has grown.
    if (this.tokens === BURST) this.beganAt = undefined;
  }
}
