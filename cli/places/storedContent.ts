import { decompress } from './compression.ts';
import type { ExportContent } from './place.ts';

/**
 * Returns the content of a stored file, decompressed, which can be read repeatedly and tells how much of it is read.
 * @param name how messages call the file
 * @param size the bytes that `read` yields
 */
export function storedContent(
  name: string,
  size: number,
  read: (signal: AbortSignal) => AsyncIterable<Uint8Array>,
): ExportContent {
  let position = 0;
  async function* bytes(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    position = 0;
    for await (const chunk of read(signal)) {
      position += chunk.byteLength;
      yield chunk;
    }
  }
  return {
    isRepeatable: true,
    open: (signal) => decompress(name, bytes(signal)),
    fraction: () => (size === 0 ? 1 : position / size),
    [Symbol.asyncDispose]: async () => {},
  };
}
