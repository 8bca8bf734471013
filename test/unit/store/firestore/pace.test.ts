import { describe, expect, it } from 'vitest';
import { CommitLimiter, Ramp } from '../../../../shared/store/firestore/pace.ts';
import type { Collection, Write } from '../../../../shared/store/store.ts';
import { createManualClock } from '../../../support/manualClock.ts';

const WRITES = 500;
const exhausted = Object.assign(new Error('quota'), { code: 8 });

/** A limiter, and its commits, which end when the test calls their resolvers. */
function limiterWithClock() {
  const clock = createManualClock();
  const limiter = new CommitLimiter(clock);
  const inFlight: { end: (error?: Error) => void }[] = [];
  const start = (signal?: AbortSignal) => {
    const attempt = () =>
      new Promise<void>((resolve, reject) => {
        inFlight.push({ end: (error) => (error === undefined ? resolve() : reject(error)) });
      });
    const done = limiter.run(WRITES, attempt, signal);
    done.catch(() => undefined);
    return done;
  };
  const commit = (milliseconds: number, writes = WRITES) =>
    limiter.run(writes, async () => clock.advance(milliseconds));
  const overload = (error: Error = exhausted) =>
    limiter.run(WRITES, () => Promise.reject(error)).catch(() => undefined);
  return { clock, limiter, inFlight, start, commit, overload };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a limiter of commits', () => {
  it('runs four commits at first, and the next one when one has ended', async () => {
    const { inFlight, start } = limiterWithClock();
    for (let commit = 0; commit < 6; commit++) void start();
    await settled();
    expect(inFlight).toHaveLength(4);
    inFlight[0]?.end();
    await settled();
    expect(inFlight).toHaveLength(5);
  });

  it('grows by one with each round whose latency holds, up to sixteen', async () => {
    const { limiter, commit } = limiterWithClock();
    for (let commits = 0; commits < 4; commits++) await commit(100);
    expect(limiter.allowed).toBe(5);
    for (let commits = 0; commits < 5; commits++) await commit(200);
    expect(limiter.allowed).toBe(6);
    for (let commits = 0; commits < 500; commits++) await commit(100);
    expect(limiter.allowed).toBe(16);
  });

  it('keeps its size if the latency has more than doubled', async () => {
    const { limiter, commit } = limiterWithClock();
    for (let commits = 0; commits < 4; commits++) await commit(100);
    for (let commits = 0; commits < 10; commits++) await commit(300);
    expect(limiter.allowed).toBe(5);
  });

  it('does not measure small commits', async () => {
    const { limiter, commit } = limiterWithClock();
    for (let commits = 0; commits < 100; commits++) await commit(1, 1);
    expect(limiter.allowed).toBe(4);
  });

  it.each([
    ['RESOURCE_EXHAUSTED', 8],
    ['ABORTED', 10],
    ['DEADLINE_EXCEEDED', 4],
  ])('halves at %s, down to one, and grows again', async (_name, code) => {
    const { clock, limiter, commit, overload } = limiterWithClock();
    const allowed: number[] = [];
    for (let times = 0; times < 3; times++) {
      clock.advance(1);
      await overload(Object.assign(new Error('overload'), { code }));
      allowed.push(limiter.allowed);
    }
    expect(allowed).toEqual([2, 1, 1]);
    await commit(100);
    expect(limiter.allowed).toBe(2);
  });

  it('halves once for commits that were in flight together', async () => {
    const { clock, limiter, inFlight, start } = limiterWithClock();
    for (let commit = 0; commit < 4; commit++) void start();
    await settled();
    clock.advance(10);
    for (const { end } of inFlight) end(exhausted);
    await settled();
    expect(limiter.allowed).toBe(2);
  });

  it('keeps its size at other errors', async () => {
    const { clock, limiter, overload } = limiterWithClock();
    clock.advance(1);
    await overload(Object.assign(new Error('the document exists'), { code: 6 }));
    expect(limiter.allowed).toBe(4);
  });

  it('ends the wait of an aborted call, and lets the next one take its turn', async () => {
    const { inFlight, start } = limiterWithClock();
    const controller = new AbortController();
    for (let commit = 0; commit < 4; commit++) void start();
    const aborted = start(controller.signal);
    const next = start();
    controller.abort(new Error('over'));
    await expect(aborted).rejects.toThrow('over');
    inFlight[0]?.end();
    await settled();
    expect(inFlight).toHaveLength(5);
    for (const { end } of inFlight) end();
    await next;
  });

  it('runs a commit after the deadline at once', async () => {
    const { inFlight, start } = limiterWithClock();
    for (let commit = 0; commit < 4; commit++) void start();
    void start(AbortSignal.abort(new Error('over')));
    await settled();
    expect(inFlight).toHaveLength(5);
  });
});

const MINUTE_MS = 60_000;

function writesTo(collection: Collection, number: number): Write[] {
  return Array.from({ length: number }, (_, index) => ({ type: 'delete', key: { collection, id: `${index}` } }));
}

/** A ramp, and a database whose collections have the given number of documents. */
function rampWithClock(documents: number) {
  const clock = createManualClock();
  const ramp = new Ramp(clock);
  const counted: { collection: Collection; limit: number }[] = [];
  const count = async (collection: Collection, limit: number) => {
    counted.push({ collection, limit });
    return Math.min(limit, documents);
  };
  const admit = (writes: readonly Write[], signal?: AbortSignal) => ramp.admit(writes, count, signal);
  /** Writes batches until a moment, and returns the number of writes. */
  const writeUntil = async (milliseconds: number) => {
    let written = 0;
    for (; clock.now() < milliseconds; written += 500) await admit(writesTo('users', 500));
    return written;
  };
  return { clock, counted, admit, writeUntil };
}

describe('a ramp', () => {
  it('admits the first ten thousand writes to a collection at once, without counting its documents', async () => {
    const { clock, counted, admit } = rampWithClock(0);
    for (let batch = 0; batch < 20; batch++) await admit([...writesTo('users', 500), ...writesTo('claims', 500)]);
    expect({ now: clock.now(), counted }).toEqual({ now: 0, counted: [] });
  });

  it('admits 500 writes a second then, and half as many more every five minutes', async () => {
    const { writeUntil, counted } = rampWithClock(0);
    const admitted: number[] = [];
    for (let step = 1; step <= 3; step++) admitted.push(await writeUntil(step * 5 * MINUTE_MS));
    const [first = 0, second = 0, third = 0] = admitted.map((number) => number / 300);
    expect(first).toBeCloseTo((10_000 + 150_000) / 300, -1);
    expect(second).toBeCloseTo(750, -1);
    expect(third).toBeCloseTo(1_125, -1);
    expect(counted).toEqual([{ collection: 'users', limit: 150_000 }]);
  });

  it('limits each collection by itself', async () => {
    const { clock, admit } = rampWithClock(0);
    await admit(writesTo('users', 20_000));
    await admit(writesTo('claims', 10_000));
    expect(clock.now()).toBe(0);
    await admit(writesTo('users', 1));
    expect(clock.now()).toBeCloseTo(20_002, -2);
  });

  it('does not limit a collection with as many documents as five minutes admit', async () => {
    const { clock, counted, admit } = rampWithClock(150_000);
    for (let batch = 0; batch < 200; batch++) await admit(writesTo('users', 500));
    expect(clock.now()).toBe(0);
    expect(counted).toHaveLength(1);
  });

  it('begins again after a pause, and looks at the collection once more', async () => {
    const { clock, counted, writeUntil } = rampWithClock(0);
    await writeUntil(11 * MINUTE_MS);
    clock.advance(60 * MINUTE_MS);
    const begun = clock.now();
    const admitted = await writeUntil(begun + MINUTE_MS);
    expect(admitted / 1_000).toBeCloseTo(10 + 30, -1);
    expect(counted).toHaveLength(2);
  });

  it('admits the writes of several calls in their order', async () => {
    const { admit } = rampWithClock(0);
    const order: number[] = [];
    const calls = [20_000, 500, 500].map((number, index) =>
      admit(writesTo('users', number)).then(() => void order.push(index)),
    );
    await Promise.all(calls);
    expect(order).toEqual([0, 1, 2]);
  });

  it('ends the wait at the deadline, and does not charge the writes', async () => {
    const { clock, admit } = rampWithClock(0);
    await admit(writesTo('users', 10_000));
    await expect(admit(writesTo('users', 100_000), AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
    await admit(writesTo('users', 1));
    expect(clock.now()).toBeLessThan(10);
  });
});
