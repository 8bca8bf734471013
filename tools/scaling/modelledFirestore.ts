import type { Clock } from '../../shared/clock.ts';
import { admittedPerSecond } from '../../shared/store/firestore/ramp.ts';
import type { Collection } from '../../shared/store/store.ts';

/** The writes beyond the rule's rate that the modelled server takes at once. */
const BURST = 10_000;
/** The status of gRPC for a request that exceeds a rate. */
const RESOURCE_EXHAUSTED = 8;
/** A rejection needs no disk. */
const REJECTION_MS = 5;

/** A Firestore database that rejects writes above the rule for new collections, however few collections there are. */
export class ModelledFirestore {
  readonly #clock: Clock;
  readonly #commitMs: number;
  readonly #collections = new Map<Collection, CollectionRate>();
  rejected = 0;

  /** @param commitMs how long a commit takes */
  constructor(clock: Clock, commitMs: number) {
    this.#clock = clock;
    this.#commitMs = commitMs;
  }

  /** The documents of a collection. */
  count(collection: Collection): number {
    return this.#collections.get(collection)?.documents ?? 0;
  }

  /**
   * Commits as many new documents to each of some collections.
   * @throws an error with a status of gRPC, when one of them grows too fast
   */
  async commit(collections: readonly Collection[], documents: number): Promise<void> {
    const rates = collections.map((collection) => this.#find(collection));
    for (const rate of rates) rate.refill();
    if (rates.some(({ tokens }) => tokens < documents)) {
      this.rejected++;
      await this.#clock.sleep(REJECTION_MS);
      throw Object.assign(new Error('too many writes'), { code: RESOURCE_EXHAUSTED });
    }
    for (const rate of rates) rate.take(documents);
    await this.#clock.sleep(this.#commitMs);
  }

  #find(collection: Collection): CollectionRate {
    const rate = this.#collections.get(collection) ?? new CollectionRate(this.#clock);
    this.#collections.set(collection, rate);
    return rate;
  }
}

class CollectionRate {
  readonly #clock: Clock;
  readonly #beganAt: number;
  #refilledAt: number;
  tokens = BURST;
  documents = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#beganAt = clock.now();
    this.#refilledAt = this.#beganAt;
  }

  refill(): void {
    const now = this.#clock.now();
    const perSecond = admittedPerSecond(now - this.#beganAt);
    this.tokens = Math.min(BURST, this.tokens + ((now - this.#refilledAt) / 1_000) * perSecond);
    this.#refilledAt = now;
  }

  take(documents: number): void {
    this.tokens -= documents;
    this.documents += documents;
  }
}
