import { setImmediate } from 'node:timers/promises';
import { CRC32C } from '@google-cloud/storage';

/** Consecutive bytes of an object. The last chunk, which may be empty, brings what is known of the whole. */
export interface Chunk {
  readonly start: number;
  readonly bytes: Uint8Array;
  readonly whole: { readonly size: number; readonly crc32c: string } | undefined;
}

/** After so many bytes the event loop gets a turn, so that content that never waits does not hold up what is being sent. */
const turnSize = 512 * 1024;

/**
 * Cuts content into chunks of `size` bytes; only the last can be shorter. Two buffers are used in turn, so a chunk is
 * valid until the chunk after the next one is asked for.
 */
export async function* chunksOf(content: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Chunk, void, void> {
  const crc32c = new CRC32C();
  let [buffer, spare]: [Buffer, Buffer | undefined] = [Buffer.allocUnsafeSlow(size), undefined];
  let [start, filled, sinceTurn] = [0, 0, 0];
  for await (const piece of content) {
    sinceTurn += piece.length;
    if (sinceTurn >= turnSize) sinceTurn = await setImmediate(0);
    crc32c.update(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
    for (let taken = 0; taken < piece.length; ) {
      if (filled === size) {
        yield { start, bytes: buffer, whole: undefined };
        [buffer, spare] = [spare ?? Buffer.allocUnsafeSlow(size), buffer];
        start += size;
        filled = 0;
      }
      const part = piece.subarray(taken, taken + size - filled);
      buffer.set(part, filled);
      filled += part.length;
      taken += part.length;
    }
  }
  yield { start, bytes: buffer.subarray(0, filled), whole: { size: start + filled, crc32c: crc32c.toString() } };
}
