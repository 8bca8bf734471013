import { Duplex } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { readBatches } from '../../../../shared/store/firestore/scan.ts';

const BUFFERED_BY_THE_STREAM = 16;

/** A response of documents with the names from 0, which ends or fails before `count`; `characters` is the size of each. */
function numbers(count: number, { failure, characters = 0 }: { failure?: Error; characters?: number } = {}) {
  let produced = 0;
  const fields = { body: 'x'.repeat(characters) };
  const duplex = new Duplex({
    objectMode: true,
    readableHighWaterMark: BUFFERED_BY_THE_STREAM,
    read() {
      if (produced < count) this.push({ document: { name: String(produced++), fields } });
      else if (failure === undefined) this.push(null);
      else this.destroy(failure);
    },
  });
  const cancel = vi.fn();
  return { stream: Object.assign(duplex, { cancel }), cancel, produced: () => produced };
}

async function collect(batches: ReturnType<typeof readBatches>, into: number[][] = []): Promise<number[][]> {
  for await (const documents of batches) into.push(documents.map(({ name }) => Number(name)));
  return into;
}

describe('the batches of a query', () => {
  it.each([
    ['have the requested size, except the last one', 7, 0, [[0, 1, 2], [3, 4, 5], [6]]],
    [
      'are smaller if the documents are large',
      5,
      400_000,
      [
        [0, 1, 2],
        [3, 4],
      ],
    ],
    ['contain at least one document, however large', 2, 1_000_000, [[0], [1]]],
    ['are none if there are no documents', 0, 0, []],
    [
      'are not followed by an empty batch',
      6,
      0,
      [
        [0, 1, 2],
        [3, 4, 5],
      ],
    ],
  ])('%s', async (_what, count, characters, expected) => {
    const size = characters === 400_000 ? 100 : 3;
    expect(await collect(readBatches(numbers(count, { characters }).stream, size))).toEqual(expected);
  });

  it('are read one ahead of a slow consumer, and no further', async () => {
    const { stream, produced } = numbers(10_000);
    for await (const documents of readBatches(stream, 100)) {
      await setTimeout(1);
      expect(produced() - Number(documents.at(-1)?.name)).toBeLessThanOrEqual(1 + 100 + BUFFERED_BY_THE_STREAM);
    }
    expect(produced()).toBe(10_000);
  });

  it('contain all documents before a failure, which is passed on after them', async () => {
    const failure = new Error('broken');
    const found: number[][] = [];
    await expect(collect(readBatches(numbers(4, { failure }).stream, 3), found)).rejects.toBe(failure);
    expect(found.flat().length).toBeGreaterThanOrEqual(3);
    expect(found.flat()).toEqual([0, 1, 2, 3].slice(0, found.flat().length));
  });

  it('end the call when the consumer stops early', async () => {
    const { stream, cancel } = numbers(10_000);
    for await (const documents of readBatches(stream, 100)) {
      expect(documents).toHaveLength(100);
      break;
    }
    expect(cancel).toHaveBeenCalled();
    expect(stream.destroyed).toBe(true);
  });
});
