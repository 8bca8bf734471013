import { describe, expect, it } from 'vitest';
import { CommitLimiter } from '../../../../shared/store/firestore/commitLimiter.ts';
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
