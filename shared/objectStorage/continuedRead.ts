import { CRC32C } from '@google-cloud/storage';
import { Backoff, type RetryPolicy } from '../retry.ts';

interface ContinuedObject {
  readonly size: number;
  readonly crc32c: string;
  /** Sends a request for the bytes from `start` to the end of the object. */
  readonly open: (start: number) => AsyncIterable<Uint8Array>;
  readonly premature: (position: number) => unknown;
  readonly retries: RetryPolicy;
}

/**
 * Yields the bytes of an object. After an error that may be transient, sends another request for the remaining bytes.
 * @returns whether the yielded bytes have the size and the checksum of the object
 * @throws the last error of `open` if no retry is permitted; the signal's reason if the signal aborts
 */
export async function* readContinued(
  { size, crc32c, open, premature, retries }: ContinuedObject,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, boolean, void> {
  const backoff = new Backoff(retries, signal);
  const checksum = new CRC32C();
  let position = 0;
  do {
    const start = position;
    try {
      for await (const chunk of open(start)) {
        position += chunk.byteLength;
        checksum.update(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
        yield chunk;
      }
      if (position < size) throw premature(position);
    } catch (error) {
      if (position > start) backoff.progressed();
      if (!(await backoff.failed(error))) throw error;
    }
  } while (position < size);
  return position === size && checksum.toString() === crc32c;
}
