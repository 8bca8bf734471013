import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../shared/clock.ts';
import { retry } from '../../shared/retry.ts';
import { commitPolicy } from '../../shared/store/firestore/call.ts';
import { admittedPerSecond, CommitLimiter, Ramp } from '../../shared/store/firestore/pace.ts';
import type { Collection, Write } from '../../shared/store/store.ts';

/** What the model starts from, in milliseconds. */
export interface ModelInputs {
  /** The first pass over the file, in which nothing is written, for each user. */
  readonly inspectMs: number;
  /** The second pass for each user, without waiting for the database. */
  readonly planMs: number;
  /** Reading a user that an earlier call has written. */
  readonly skipMs: number;
  readonly commitMs: number;
}

/** The course of an import. */
export interface Course {
  readonly users: number;
  readonly hours: number;
  readonly calls: number;
  readonly rejected: number;
  /** The users that are written, by the hours that have passed. */
  readonly points: readonly (readonly [hours: number, users: number])[];
}

/** How the processes of an import follow each other. */
export interface Strategy {
  readonly name: string;
  /** The processes at once, which share the users. */
  readonly tasks: number;
  /** How often each of them may begin. */
  readonly calls: number;
  readonly limitMs: number;
}

const HOUR_MS = 3_600_000;
/** The moments of a course that are kept. */
const POINT_MS = 120_000;

/** As the product commits them: a batch of users with a claim each. */
export const BATCH_USERS = 250;
const MIN_IN_FLIGHT = 4;
const batch: readonly Write[] = Array.from({ length: BATCH_USERS }, (_, number) =>
  (['users', 'claims'] as const).map((collection): Write => ({ type: 'delete', key: { collection, id: `${number}` } })),
).flat();

/** Imports users into an empty database. */
export async function follow({ tasks, calls, limitMs }: Strategy, users: number, inputs: ModelInputs): Promise<Course> {
  const clock = new VirtualClock();
  const database = new ModelledFirestore(clock, inputs.commitMs);
  const points: [number, number][] = [[0, 0]];
  let written = 0;
  let begun = 0;
  const onWritten = () => {
    written += BATCH_USERS;
    const last = points.at(-1)?.[0] ?? 0;
    if (clock.now() - last * HOUR_MS >= POINT_MS) points.push([clock.now() / HOUR_MS, written]);
  };
  const runTask = async () => {
    const share = users / tasks;
    let done = 0;
    for (let call = 0; call < calls && done < share; call++) {
      begun++;
      const endsAt = clock.now() + limitMs;
      await clock.sleep(Math.min(limitMs, users * inputs.inspectMs + done * inputs.skipMs));
      done += await writeUsers(share - done, { clock, database, planMs: inputs.planMs, endsAt, onWritten });
    }
  };
  await clock.run(Promise.all(Array.from({ length: tasks }, runTask)));
  const hours = clock.now() / HOUR_MS;
  points.push([hours, written]);
  return { users: Math.min(written, users), hours, calls: begun, rejected: database.rejected, points };
}

interface Process {
  readonly clock: Clock;
  readonly database: ModelledFirestore;
  readonly planMs: number;
  readonly endsAt: number;
  readonly onWritten: () => void;
}

/** Writes users until its end, by the product's own ramp, limiter and retries. Returns how many it has written. */
async function writeUsers(users: number, { clock, database, planMs, endsAt, onWritten }: Process): Promise<number> {
  const ramp = new Ramp(clock);
  const limiter = new CommitLimiter(clock);
  const policy = { ...commitPolicy, budgetMs: Number.POSITIVE_INFINITY };
  const count = async (_: Collection, limit: number) => Math.min(limit, database.documents);
  const commitBatch = async () => {
    await ramp.admit(batch, count);
    await retry(policy, () => limiter.run(batch.length, () => database.commit(BATCH_USERS)), undefined, clock);
  };
  const inFlight = new Set<Promise<void>>();
  let done = 0;
  for (let begun = 0; begun < users && clock.now() < endsAt; begun += BATCH_USERS) {
    await clock.sleep(BATCH_USERS * planMs);
    const commit = commitBatch().then(() => {
      inFlight.delete(commit);
      done += BATCH_USERS;
      onWritten();
    });
    inFlight.add(commit);
    while (inFlight.size >= Math.max(MIN_IN_FLIGHT, limiter.allowed)) await Promise.race(inFlight);
  }
  await Promise.all(inFlight);
  return Math.min(done, users);
}

/** The writes beyond the rule's rate that the modelled server takes at once. */
const BURST = 10_000;
/** The status of gRPC for a request that exceeds a rate. */
const RESOURCE_EXHAUSTED = 8;
/** A rejection needs no disk. */
const REJECTION_MS = 5;

/** A Firestore database that rejects writes above the rule for new collections. Its collections grow alike. */
export class ModelledFirestore {
  readonly #clock: Clock;
  readonly #commitMs: number;
  #beganAt: number | undefined;
  #refilledAt = 0;
  #tokens = BURST;
  /** The documents of each collection. */
  documents = 0;
  rejected = 0;

  /** @param commitMs how long a commit takes */
  constructor(clock: Clock, commitMs: number) {
    this.#clock = clock;
    this.#commitMs = commitMs;
  }

  /**
   * Commits as many new documents to each collection.
   * @throws an error with a status of gRPC, when they grow too fast
   */
  async commit(documents: number): Promise<void> {
    const now = this.#clock.now();
    this.#beganAt ??= now;
    const refilled = ((now - this.#refilledAt) / 1_000) * admittedPerSecond(now - this.#beganAt);
    this.#tokens = Math.min(BURST, this.#tokens + refilled);
    this.#refilledAt = now;
    if (this.#tokens < documents) {
      this.rejected++;
      await this.#clock.sleep(REJECTION_MS);
      throw Object.assign(new Error('too many writes'), { code: RESOURCE_EXHAUSTED });
    }
    this.#tokens -= documents;
    this.documents += documents;
    await this.#clock.sleep(this.#commitMs);
  }
}

interface Timer {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock whose time passes only while all work waits for it, so that hours take seconds. */
export class VirtualClock implements Clock {
  #now = 0;
  /** The next one last. */
  readonly #timers: Timer[] = [];

  now(): number {
    return this.#now;
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#insert({ at: this.#now + Math.max(0, milliseconds), wake: resolve });
    await promise;
    signal?.throwIfAborted();
  }

  /**
   * Lets time pass until some work is done.
   * @throws the work's error; Error if it waits for something else than the time
   */
  async run<Result>(work: Promise<Result>): Promise<Result> {
    let isDone = false;
    const end = () => {
      isDone = true;
    };
    work.then(end, end);
    for (;;) {
      // All work goes on until it waits.
      await setImmediate();
      if (isDone) return work;
      const next = this.#timers.pop();
      if (next === undefined) throw new Error('the work waits for something else than the time');
      this.#now = next.at;
      next.wake();
    }
  }

  #insert(timer: Timer): void {
    let index = this.#timers.length;
    while (index > 0 && (this.#timers[index - 1]?.at ?? 0) <= timer.at) index--;
    this.#timers.splice(index, 0, timer);
  }
}
