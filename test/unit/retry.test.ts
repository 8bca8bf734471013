import { afterEach, describe, expect, it, vi } from 'vitest';
import { Backoff, parseRetryAfter, type RetryPolicy, retry } from '../../shared/retry.ts';
import { createManualClock } from '../support/manualClock.ts';

const policy: RetryPolicy = {
  attempts: (reason) => (reason === 'permanent' ? 1 : Number.POSITIVE_INFINITY),
  initialDelayMs: 100,
  maxDelayMs: 5_000,
};

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a backoff', () => {
  it('doubles its delays up to the cap, each multiplied by a random number', async () => {
    const clock = createManualClock();
    const backoff = new Backoff(policy, undefined, clock);
    const random = vi.spyOn(Math, 'random').mockReturnValue(1);
    for (let failure = 0; failure < 8; failure++) await backoff.failed('transient');
    random.mockReturnValue(0.25);
    await backoff.failed('transient');
    expect(clock.sleeps).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 1_250]);
  });

  it('waits as long as the server asks for, and gives up if that is longer than five minutes', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const clock = createManualClock();
    const statedSeconds = (reason: unknown) => (typeof reason === 'number' ? reason : undefined);
    const backoff = new Backoff({ ...policy, statedSeconds }, undefined, clock);
    expect([await backoff.failed(2), await backoff.failed('transient'), await backoff.failed(0)]).not.toContain(false);
    expect(clock.sleeps).toEqual([2_000, 200, 400]);
    expect([await backoff.failed(300), await backoff.failed(301)]).toEqual([true, false]);
  });

  it('begins again after progress', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const clock = createManualClock();
    const backoff = new Backoff(policy, undefined, clock);
    for (let failure = 0; failure < 3; failure++) await backoff.failed('transient');
    backoff.progressed();
    await backoff.failed('transient');
    expect(clock.sleeps).toEqual([100, 200, 400, 100]);
  });

  it('ends at a permanent error without a delay', async () => {
    const clock = createManualClock();
    expect(await new Backoff(policy, undefined, clock).failed('permanent')).toBe(false);
    expect(clock.sleeps).toEqual([]);
  });

  it('spends its budget to the end, with one more attempt, if no signal ends it', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const clock = createManualClock();
    const backoff = new Backoff({ ...policy, budgetMs: 25_000 }, undefined, clock);
    let retries = 0;
    while (await backoff.failed('transient')) retries++;
    expect({ retries, now: clock.now() }).toEqual({ retries: 10, now: 25_000 });
    expect(clock.sleeps.at(-1)).toBe(25_000 - 6_300 - 3 * 5_000);
  });

  it('outlasts its budget until the deadline, and throws the reason of the deadline', async () => {
    const clock = createManualClock();
    const controller = new AbortController();
    const backoff = new Backoff({ ...policy, budgetMs: 25_000 }, controller.signal, clock);
    while (clock.now() < 3_600_000) expect(await backoff.failed('transient')).toBe(true);
    controller.abort(new Error('over'));
    await expect(backoff.failed('transient')).rejects.toThrow('over');
  });

  it('ends a delay at the deadline', async () => {
    const slow = { ...policy, initialDelayMs: 60_000, maxDelayMs: 60_000 };
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const controller = new AbortController();
    const failed = new Backoff(slow, controller.signal).failed('transient');
    controller.abort(new Error('over'));
    await expect(failed).rejects.toThrow('over');
  });
});

describe('a retried attempt', () => {
  it('is repeated until it succeeds', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    let attempts = 0;
    const attempt = async () => {
      if (++attempts < 50) throw new Error('transient');
      return 'done';
    };
    expect(await retry(policy, attempt)).toBe('done');
  });

  it('throws a permanent error', async () => {
    await expect(retry(policy, () => Promise.reject('permanent'))).rejects.toBe('permanent');
  });

  it('is made once after the deadline', async () => {
    const over = AbortSignal.abort(new Error('over'));
    expect(await retry(policy, async () => 'done', over)).toBe('done');
    await expect(retry(policy, () => Promise.reject('transient'), over)).rejects.toThrow('over');
    await expect(retry(policy, () => Promise.reject('permanent'), over)).rejects.toBe('permanent');
  });
});

const now = Date.parse('2026-11-30T04:00:00Z');

describe('the header Retry-After', () => {
  it.each([
    ['120', 120],
    [' 5 ', 5],
    ['0', 0],
    ['1.5', 1.5],
    ['Mon, 30 Nov 2026 04:00:07 GMT', 7],
    ['Monday, 30-Nov-26 04:01:00 GMT', 60],
    ['Mon, 30 Nov 2026 03:00:00 GMT', 0],
    ['-1', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%j is a wait of %s seconds', (header, seconds) => {
    expect(parseRetryAfter(header, now)).toBe(seconds);
  });
});
