import { afterEach, describe, expect, it, vi } from 'vitest';
import { Places } from '../../load/support/places.ts';

describe('places', () => {
  afterEach(() => void vi.useRealTimers());

  const taken = (places: Places) => {
    const call = places.begin();
    call.take();
    return call;
  };

  it('are exceeded for every call during which there were too many', () => {
    const places = new Places(2);
    const [first, second] = [taken(places), taken(places)];
    expect([first.wasExceeded(), second.wasExceeded()]).toEqual([false, false]);
    const third = taken(places);
    third.end();
    expect([first.wasExceeded(), second.wasExceeded(), third.wasExceeded()]).toEqual([true, true, true]);
    first.end();
    second.end();
    expect(taken(places).wasExceeded()).toBe(false);
  });

  it('are not taken by a call whose body has not ended, which may yet be rejected', () => {
    const places = new Places(1);
    const slow = places.begin();
    const other = taken(places);
    expect([slow.wasExceeded(), other.wasExceeded()]).toEqual([true, false]);
  });

  it('are kept for a while by calls that were left', () => {
    vi.useFakeTimers();
    const places = new Places(1);
    taken(places).end(true);
    const next = taken(places);
    expect(next.wasExceeded()).toBe(true);
    next.end();
    vi.advanceTimersByTime(5_000);
    expect(taken(places).wasExceeded()).toBe(false);
  });
});
