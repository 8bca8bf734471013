import type { ExportContent } from './place.ts';

/** Passes bytes on, and counts them as read. */
export type CountBytes = (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/**
 * Returns the content of a stored file, which can be read repeatedly and tells how much of it is read.
 * @param size the bytes that `open` counts; they may be known only while it is read
 * @param open reads the content, decompressed, and counts the stored bytes
 */
export function storedContent(
  size: () => number,
  open: (count: CountBytes, signal: AbortSignal) => AsyncIterable<Uint8Array>,
): ExportContent {
  let position = 0;
  async function* count(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      position += chunk.byteLength;
      yield chunk;
    }
  }
  return {
    isRepeatable: true,
    open(signal) {
      position = 0;
      return open(count, signal);
    },
    fraction: () => (size() === 0 ? 1 : Math.min(1, position / size())),
    [Symbol.asyncDispose]: async () => {},
  };
}
