import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BodyPace } from '../../../shared/http/requestBody.ts';
import { fixedLimits } from '../../../shared/limits.ts';

const { bodyGraceMs, bodyBytesPerSecond, stallMs } = fixedLimits;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** Waits for a chunk that arrives after some time. */
async function receive(pace: BodyPace, bytes: number, afterMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<{ value: Uint8Array }>();
  const received = pace.awaitChunk(promise);
  await vi.advanceTimersByTimeAsync(afterMs);
  resolve({ value: new Uint8Array(bytes) });
  await received;
}

describe('the pace of a body', () => {
  it('may be anything for ten seconds, and is too slow at their end', async () => {
    const pace = new BodyPace();
    void pace.awaitChunk(new Promise<{ value?: Uint8Array }>(() => {}));
    await vi.advanceTimersByTimeAsync(bodyGraceMs - 1);
    expect(pace.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(pace.signal.reason).toMatchObject({ code: 'DEADLINE_EXCEEDED', httpStatus: 408 });
  });

  it('counts the pauses together', async () => {
    const pace = new BodyPace();
    for (let second = 1; second < bodyGraceMs / 1_000; second++) await receive(pace, 0, 1_000);
    await vi.advanceTimersByTimeAsync(60_000);
    await receive(pace, 0, 999);
    expect(pace.signal.aborted).toBe(false);
    await receive(pace, 0, 1);
    expect(pace.signal.aborted).toBe(true);
  });

  it.each([
    [bodyBytesPerSecond, false],
    [bodyBytesPerSecond - 1, true],
  ])('at %d bytes per second is too slow in the long run: %s', async (bytes, isTooSlow) => {
    const pace = new BodyPace();
    for (let second = 0; second < 12_000 && !pace.signal.aborted; second++) await receive(pace, bytes, 1_000);
    expect(pace.signal.aborted).toBe(isTooSlow);
  });

  it('is too slow at once after a chunk that came too late, while the timer waited for the event loop', async () => {
    const pace = new BodyPace();
    const late = Promise.withResolvers<{ value: Uint8Array }>();
    const received = pace.awaitChunk(late.promise);
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + bodyGraceMs + 47);
    late.resolve({ value: new Uint8Array(0) });
    await received;
    clock.mockRestore();
    const timers = vi.spyOn(globalThis, 'setTimeout');
    void pace.awaitChunk(new Promise<{ value?: Uint8Array }>(() => {}));
    expect(timers.mock.calls.map(([, delay]) => delay)).toEqual([0]);
    timers.mockRestore();
    await vi.advanceTimersByTimeAsync(1);
    expect(pace.signal.aborted).toBe(true);
  });

  it('that was fast may stall for no more than a minute', async () => {
    const pace = new BodyPace();
    await receive(pace, 100 * bodyBytesPerSecond * (stallMs / 1_000), 0);
    void pace.awaitChunk(new Promise<{ value?: Uint8Array }>(() => {}));
    await vi.advanceTimersByTimeAsync(stallMs - 1);
    expect(pace.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(pace.signal.aborted).toBe(true);
  });

  it("does not count the service's own time", async () => {
    const pace = new BodyPace();
    await receive(pace, 1, 0);
    await vi.advanceTimersByTimeAsync(10 * bodyGraceMs);
    await receive(pace, 1, bodyGraceMs - 1);
    expect(pace.signal.aborted).toBe(false);
  });
});
