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

  it('accepts another timeout, which counts from the start of the call', () => {
    using call = callSignal(new AbortController().signal, 10_000);
    vi.advanceTimersByTime(600);
    call.limit(1_000);
    vi.advanceTimersByTime(399);
    expect(call.signal.aborted).toBe(false);
    vi.advanceTimersByTime(2);
    expect(call.signal.reason).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('aborts at once if the new timeout has passed already', () => {
    using call = callSignal(new AbortController().signal, 10_000);
    vi.advanceTimersByTime(600);
    call.limit(100);
    vi.advanceTimersByTime(1);
    expect(call.signal.reason).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });

  it('aborts with the error that ends it', () => {
    using call = callSignal(new AbortController().signal, 10);
    const error = new Error('revoked');
    call.end(error);
    expect(call.signal.reason).toBe(error);
  });

  it.each([
    ['before the call', true],
    ['during the call', false],
  ])('aborts with the reason of a shutdown that began %s', (_when, isBefore) => {
    const shutdown = new AbortController();
    const reason = new Error('shutting down');
    if (isBefore) shutdown.abort(reason);
    using call = callSignal(new AbortController().signal, 10, shutdown.signal);
    shutdown.abort(reason);
    expect(call.signal.reason).toBe(reason);
  });

  it('keeps the first reason', () => {
    const client = new AbortController();
    using call = callSignal(client.signal, 10);
    vi.advanceTimersByTime(10);
    client.abort();
    expect(call.signal.reason).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });

  it("limits a timeout to the longest of Node's timers", () => {
    using call = callSignal(new AbortController().signal, 2 ** 40);
    vi.advanceTimersByTime(2 ** 30);
    expect(call.signal.aborted).toBe(false);
  });

  it('leaves no timer behind, and does not abort when it is disposed of', () => {
    const client = new AbortController();
    const call = callSignal(client.signal, 1000);
    call[Symbol.dispose]();
    client.abort();
    expect(vi.getTimerCount()).toBe(0);
    expect(call.signal.aborted).toBe(false);
  });
});
