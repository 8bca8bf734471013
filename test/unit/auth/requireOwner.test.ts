import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchAuthorisation } from '../../../shared/auth/requireOwner.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('watchAuthorisation', () => {
  it('checks at least every five seconds, and ends the call with the first error', async () => {
    const revoked = new Error('revoked');
    const check = vi.fn(async () => {});
    const end = vi.fn();
    using _watch = watchAuthorisation(check, end);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(check.mock.calls.length).toBeGreaterThanOrEqual(4);
    check.mockRejectedValue(revoked);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(end.mock.calls).toEqual([[revoked]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('waits for a slow check before it starts the next', async () => {
    const answer = Promise.withResolvers<void>();
    const check = vi.fn(() => answer.promise);
    using _watch = watchAuthorisation(check, vi.fn());
    await vi.advanceTimersByTimeAsync(20_000);
    expect(check).toHaveBeenCalledTimes(1);
    answer.resolve();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(check).toHaveBeenCalledTimes(2);
  });

  it('does nothing once it is disposed of, even during a check', async () => {
    const answer = Promise.withResolvers<void>();
    const end = vi.fn();
    const idle = watchAuthorisation(async () => {}, end);
    idle[Symbol.dispose]();
    const checking = watchAuthorisation(() => answer.promise, end);
    await vi.advanceTimersByTimeAsync(5_000);
    checking[Symbol.dispose]();
    answer.reject(new Error('revoked'));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(end).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });
});
