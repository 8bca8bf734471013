// Divides bulk work into turns of the event loop, so that requests can run between them.

import { setImmediate } from 'node:timers';

/** For this number of milliseconds after a request, further requests are likely. */
const ATTENDED_MS = 250;

/** The milliseconds after which bulk work should let other tasks run. */
const TURN_MS = 10;

let requestedAt = Number.NEGATIVE_INFINITY;
let turnStartedAt = Number.NEGATIVE_INFINITY;
const waiting: (() => void)[] = [];

/** Records that a request has arrived. For `ATTENDED_MS` afterwards, bulk work takes shorter turns. */
export function noteRequest(): void {
  requestedAt = performance.now();
}

/** Returns whether further requests are likely to arrive. If so, bulk work should take short turns. */
export function isAttended(): boolean {
  return performance.now() - requestedAt < ATTENDED_MS;
}

/**
 * Lets waiting requests run. Bulk work, such as an import or export, awaits the returned promise before it continues.
 * If several tasks wait, each round of the event loop continues only one of them, so that requests run between the
 * tasks.
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

export function isTurnOver(): boolean {
  return performance.now() - turnStartedAt > TURN_MS;
}

/**
 * The maximum size of a chunk while requests arrive, in bytes. Parsing, checking and planning such a chunk takes one or
 * two milliseconds.
 */
const ATTENDED_BYTES = 16 * 1024;

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
 * Yields a list in batches. Before each batch, waits until the event loop has run other tasks, because work on the
 * embedded database blocks the event loop.
 * @throws the signal's reason if the signal aborts
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
