// Turns of the event loop: bulk work yields to requests.

import { setImmediate } from 'node:timers';

/** After a request, further requests are likely for this long. */
const ATTENDED_MS = 250;

/** The maximum duration of a turn for bulk work that can stop between two records. */
const TURN_MS = 10;

let requestedAt = Number.NEGATIVE_INFINITY;
let turnStartedAt = Number.NEGATIVE_INFINITY;
const waiting: (() => void)[] = [];

/** Records that a request arrived, so that bulk work keeps its turns short for a moment. */
export function noteRequest(): void {
  requestedAt = performance.now();
}

/** Whether requests other than bulk work are likely to wait for this process. */
export function isAttended(): boolean {
  return performance.now() - requestedAt < ATTENDED_MS;
}

/**
 * Yields to requests before bulk work, such as an import or export, continues. Each round of the event loop continues
 * only one waiting task, so that requests run between them.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(startNext);
  });
}

function startNext(): void {
  turnStartedAt = performance.now();
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(startNext);
}

/** Whether the turn of bulk work has lasted long enough, so that it should yield between two records. */
export function isTurnOver(): boolean {
  return performance.now() - turnStartedAt > TURN_MS;
}

/** The size of a chunk while requests arrive: parsing, checking and planning it takes one or two milliseconds. */
const ATTENDED_BYTES = 16 * 1024;

/** Yields the chunks of a file, each after a turn of the event loop, and in smaller parts while requests arrive. */
export async function* chunksInTurns(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    for (let start = 0, size = 0; start < chunk.byteLength; start += size) {
      await yieldToEventLoop();
      size = isAttended() ? ATTENDED_BYTES : chunk.byteLength;
      yield chunk.subarray(start, start + size);
    }
  }
}

/**
 * Yields a list in batches, each after a turn of the event loop: work on the embedded database would otherwise block
 * the event loop.
 * @throws the signal's reason
 */
export async function* inTurns<Item>(
  items: readonly Item[],
  batchSize: number,
  signal: AbortSignal,
): AsyncGenerator<readonly Item[]> {
  for (let start = 0; start < items.length; start += batchSize) {
    await yieldToEventLoop();
    signal.throwIfAborted();
    yield items.slice(start, start + batchSize);
  }
}
