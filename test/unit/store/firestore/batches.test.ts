import { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { type BatchLimit, batches } from '../../../../shared/store/firestore/scan.ts';

const BUFFERED_BY_THE_STREAM = 16;

/** A stream of the numbers from 0, which ends or fails before `count`. */
function numbers(count: number, failure?: Error) {
  let produced = 0;
  const duplex = new Duplex({
    objectMode: true,
    readableHighWaterMark: BUFFERED_BY_THE_STREAM,
    read() {
      if (produced < count) this.push(produced++);
      else if (failure === undefined) this.push(null);
      else this.destroy(failure);
    },
  });
  const cancel = vi.fn();
  return { stream: Object.assign(duplex, { cancel }), cancel, produced: () => produced };
}

/** A limit by number alone. */
function atMost(messages: number): BatchLimit<number> {
  return { messages, size: Number.POSITIVE_INFINITY, measure: () => 1 };
}

async function collect(arrays: AsyncIterable<readonly number[]>, into: number[][]): Promise<void> {
  for await (const array of arrays) into.push([...array]);
}

describe('the arrays of a stream', () => {
  it('have the size asked for, the last one what is left', async () => {
    const arrays: number[][] = [];
    await collect(batches(numbers(7).stream, atMost(3)), arrays);
    expect(arrays).toEqual([[0, 1, 2], [3, 4, 5], [6]]);
  });

  it('are smaller where the messages are large: the one that passes the size is the last of its array', async () => {
    const arrays: number[][] = [];
    await collect(batches(numbers(8).stream, { messages: 4, size: 6, measure: (message) => message }), arrays);
    expect(arrays).toEqual([[0, 1, 2, 3], [4, 5], [6], [7]]);
  });

  it('are none when nothing comes, and no empty one follows the last full one', async () => {
    const [none, full]: [number[][], number[][]] = [[], []];
    await collect(batches(numbers(0).stream, atMost(3)), none);
    await collect(batches(numbers(6).stream, atMost(3)), full);
    expect(none).toEqual([]);
    expect(full).toEqual([
      [0, 1, 2],
      [3, 4, 5],
    ]);
  });

  it('are gathered one ahead of a consumer that takes its time, and no further', async () => {
    const { stream, produced } = numbers(10_000);
    for await (const array of batches<number>(stream, atMost(100))) {
      await setTimeout(1);
      expect(produced() - (array.at(-1) ?? 0)).toBeLessThanOrEqual(1 + 100 + BUFFERED_BY_THE_STREAM);
    }
    expect(produced()).toBe(10_000);
  });

  it('have all that came before a failure, which is passed on after them', async () => {
    const failure = new Error('broken');
    const { stream } = numbers(4, failure);
    const arrays: number[][] = [];
    await expect(collect(batches(stream, atMost(3)), arrays)).rejects.toBe(failure);
    expect(arrays.flat().length).toBeGreaterThanOrEqual(3);
    expect(arrays.flat()).toEqual([0, 1, 2, 3].slice(0, arrays.flat().length));
  });

  it('end the call when the consumer stops early', async () => {
    const { stream, cancel } = numbers(10_000);
    for await (const array of batches<number>(stream, atMost(100))) {
      expect(array).toHaveLength(100);
      break;
    }
    expect(cancel).toHaveBeenCalled();
    expect(stream.destroyed).toBe(true);
  });
});
