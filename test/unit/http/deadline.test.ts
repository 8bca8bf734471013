import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { callSignal } from '../../../shared/http/deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('callSignal', () => {
  it('aborts with CANCELLED when the client leaves', () => {
    const client = new AbortController();
    using call = callSignal(client.signal, 1000);
    client.abort('Client connection prematurely closed.');
    expect(call.signal.reason).toMatchObject({ code: 'CANCELLED' });
  });

  it('aborts at once when the client has left already', () => {
    using call = callSignal(AbortSignal.abort(), undefined);
    expect(call.signal.reason).toMatchObject({ code: 'CANCELLED' });
  });

  it('aborts with DEADLINE_EXCEEDED when the time is over, and not before', () => {
    using call = callSignal(new AbortController().signal, 999.5);
    vi.advanceTimersByTime(999);
    expect(call.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(call.signal.reason).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });

  it('can be given another time, which counts from the begin of the call', () => {
    using call = callSignal(new AbortController().signal, 10_000);
    vi.advanceTimersByTime(600);
    call.limit(1_000);
    vi.advanceTimersByTime(399);
    expect(call.signal.aborted).toBe(false);
    vi.advanceTimersByTime(2);
    expect(call.signal.reason).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is over at once when it is given a time that has passed', () => {
    using call = callSignal(new AbortController().signal, 10_000);
    vi.advanceTimersByTime(600);
    call.limit(100);
    vi.advanceTimersByTime(1);
    expect(call.signal.reason).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });

  it('aborts with the error that it is ended with', () => {
    using call = callSignal(new AbortController().signal, 10);
    const error = new Error('revoked');
    call.end(error);
    expect(call.signal.reason).toBe(error);
  });

  it('keeps the first reason', () => {
    const client = new AbortController();
    using call = callSignal(client.signal, 10);
    vi.advanceTimersByTime(10);
    client.abort();
    expect(call.signal.reason).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });

  it("takes a time longer than Node's timers for the longest that they know", () => {
    using call = callSignal(new AbortController().signal, 2 ** 40);
    vi.advanceTimersByTime(2 ** 30);
    expect(call.signal.aborted).toBe(false);
  });

  it('leaves no timer behind, and is not aborted by being disposed', () => {
    const client = new AbortController();
    const call = callSignal(client.signal, 1000);
    call[Symbol.dispose]();
    client.abort();
    expect(vi.getTimerCount()).toBe(0);
    expect(call.signal.aborted).toBe(false);
  });
});
