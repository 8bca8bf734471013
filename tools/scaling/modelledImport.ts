import type { Clock } from '../../shared/clock.ts';
import { retry } from '../../shared/retry.ts';
import { CommitLimiter } from '../../shared/store/firestore/commitLimiter.ts';
import { Ramp } from '../../shared/store/firestore/ramp.ts';
import { commitPolicy } from '../../shared/store/firestore/status.ts';
import type { Collection, Write } from '../../shared/store/store.ts';
import type { ModelledFirestore } from './modelledFirestore.ts';

/** What a process does to a user, in milliseconds. */
export interface ProcessCosts {
  /** The first pass over the file, in which nothing is written. */
  readonly inspectMs: number;
  /** The second pass, without waiting for the database. */
  readonly planMs: number;
  /** Reading a user that an earlier call has written. */
  readonly skipMs: number;
}

/** One call or task: it reads the file of all users, and writes its share of them. */
export interface ModelledCall {
  /** The users in the file. */
  readonly inFile: number;
  /** Those of its share that are written already. */
  readonly written: number;
  /** Its share. */
  readonly users: number;
  /** The time after which it ends; unlimited by default. */
  readonly limitMs?: number;
  /** Takes the number of users that are written, after each batch. */
  readonly onWritten: (users: number) => void;
}

/** As the product commits them: a batch of users with a claim each. */
export const BATCH_USERS = 250;
const MIN_IN_FLIGHT = 4;
const collections: readonly Collection[] = ['users', 'claims'];
const batch: readonly Write[] = Array.from({ length: BATCH_USERS }, (_, number) =>
  collections.map((collection): Write => ({ type: 'delete', key: { collection, id: String(number) } })),
).flat();

/** A process that imports, with the product's own ramp, limiter and retries on another clock. */
export class ModelledImport {
  readonly #clock: Clock;
  readonly #database: ModelledFirestore;
  readonly #costs: ProcessCosts;
  readonly #ramp: Ramp;
  readonly #limiter: CommitLimiter;

  constructor(clock: Clock, database: ModelledFirestore, costs: ProcessCosts) {
    this.#clock = clock;
    this.#database = database;
    this.#costs = costs;
    this.#ramp = new Ramp(clock);
    this.#limiter = new CommitLimiter(clock);
  }

  /** Runs a call to its end or limit. Returns the number of its users that are written then. */
  async run({ inFile, written, users, limitMs = Number.POSITIVE_INFINITY, onWritten }: ModelledCall): Promise<number> {
    const { inspectMs, planMs, skipMs } = this.#costs;
    const endsAt = this.#clock.now() + limitMs;
    await this.#clock.sleep(Math.min(limitMs, inFile * inspectMs + written * skipMs));
    const inFlight = new Set<Promise<void>>();
    let done = written;
    for (let begun = written; begun < users && this.#clock.now() < endsAt; begun += BATCH_USERS) {
      await this.#clock.sleep(BATCH_USERS * planMs);
      const commit = this.#commit().then(() => {
        inFlight.delete(commit);
        done += BATCH_USERS;
        onWritten(BATCH_USERS);
      });
      inFlight.add(commit);
      while (inFlight.size >= Math.max(MIN_IN_FLIGHT, this.#limiter.allowed)) await Promise.race(inFlight);
    }
    await Promise.all(inFlight);
    return Math.min(done, users);
  }

  async #commit(): Promise<void> {
    await this.#ramp.admit(batch, async (collection, limit) => Math.min(limit, this.#database.count(collection)));
    const attempt = () => this.#database.commit(collections, BATCH_USERS);
    const policy = { ...commitPolicy, budgetMs: Number.POSITIVE_INFINITY };
    await retry(policy, () => this.#limiter.run(batch.length, attempt), undefined, this.#clock);
  }
}
