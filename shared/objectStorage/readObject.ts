import { Readable } from 'node:stream';
import { CRC32C, type Storage } from '@google-cloud/storage';
import { z } from 'zod';
import { objectCorrupted, objectEncoded, objectReplaced } from '../errors/storageErrors.ts';
import { Backoff } from '../retry.ts';
import type { PinnedObject } from './objectStorage.ts';
import { storageError, storagePolicy, type Target } from './storageError.ts';

const metadata = z.object({
  generation: z.coerce.string(),
  size: z.coerce.number(),
  crc32c: z.string(),
  contentEncoding: z.string().optional(),
});

interface Generation {
  readonly storage: Storage;
  readonly target: Target;
  readonly generation: string;
  readonly size: number;
  readonly crc32c: string;
}

/**
 * Finds the present generation of an object.
 * @throws IdentityError naming the object
 */
export async function pinObject(storage: Storage, target: Target): Promise<PinnedObject> {
  const file = storage.bucket(target.bucket).file(target.path);
  const [found] = await file.getMetadata().catch((reason: unknown) => {
    throw storageError(reason, target);
  });
  const { generation, size, crc32c, contentEncoding } = metadata.parse(found);
  if (contentEncoding !== undefined && contentEncoding !== '') throw objectEncoded(target);
  const pinned = { storage, target, generation, size, crc32c };
  return { generation, size, read: (signal) => read(pinned, signal) };
}

// The library's own read stream neither checks a CRC32C over a range nor goes on where a connection broke.
async function* read(pinned: Generation, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  const backoff = new Backoff(storagePolicy, signal);
  const crc32c = new CRC32C();
  let position = 0;
  do {
    const before = position;
    try {
      for await (const piece of open(pinned, position, signal)) {
        position += piece.length;
        crc32c.update(piece);
        yield piece;
      }
      if (position < pinned.size) throw cutShort;
    } catch (reason) {
      if (position > before) backoff.progressed();
      if (!(await backoff.failed(reason))) throw storageError(reason, pinned.target);
    }
  } while (position < pinned.size);
  if (position !== pinned.size || crc32c.toString() !== pinned.crc32c) throw objectCorrupted(pinned.target);
}

const cutShort = { code: 'ERR_STREAM_PREMATURE_CLOSE', message: 'the answer ended too early' };

/** The bytes from `start` on, in one request, which is ended when the reader stops early. */
async function* open(pinned: Generation, start: number, signal: AbortSignal): AsyncGenerator<Buffer, void, void> {
  const { storage, target, generation } = pinned;
  const stop = new AbortController();
  try {
    const { status, data } = await storage.authClient.request<unknown>({
      url: `${storage.baseUrl}/b/${encodeURIComponent(target.bucket)}/o/${encodeURIComponent(target.path)}`,
      params: { alt: 'media', generation },
      headers: { 'accept-encoding': 'identity', ...(start === 0 ? {} : { range: `bytes=${start}-` }) },
      responseType: 'stream',
      signal: AbortSignal.any([signal, stop.signal]),
      redirect: 'manual',
      retry: false,
      validateStatus: (code) => code === (start === 0 ? 200 : 206) || code === 404,
    });
    if (status === 404) throw objectReplaced(target);
    yield* pieces.parse(data);
  } finally {
    stop.abort();
  }
}

const pieces = z.instanceof(Readable).transform((stream): AsyncIterable<Buffer> => stream);
