import { describe, expect, it } from 'vitest';
import { Ramp } from '../../../../shared/store/firestore/pace.ts';
import type { Collection, Write } from '../../../../shared/store/store.ts';
import { createManualClock } from '../../../support/manualClock.ts';

const MINUTE_MS = 60_000;

function writesTo(collection: Collection, number: number): Write[] {
  return Array.from({ length: number }, (_, index) => ({ type: 'delete', key: { collection, id: `${index}` } }));
}

/** A ramp, and a database whose collections have so many documents. */
function rampWithClock(documents: number) {
  const clock = createManualClock();
  const ramp = new Ramp(clock);
  const counted: { collection: Collection; limit: number }[] = [];
  const count = async (collection: Collection, limit: number) => {
    counted.push({ collection, limit });
    return Math.min(limit, documents);
  };
  const admit = (writes: readonly Write[], signal?: AbortSignal) => ramp.admit(writes, count, signal);
  /** Writes batches until a moment, and returns how many writes it were. */
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

  it('admits 500 a second then, and half as many more every five minutes', async () => {
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

  it('does not limit a collection that has as many documents as five minutes admit', async () => {
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
