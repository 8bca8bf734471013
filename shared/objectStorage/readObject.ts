import { Readable } from 'node:stream';
import type { Storage } from '@google-cloud/storage';
import { z } from 'zod';
import { objectCorrupted, objectEncoded, objectReplaced, objectUri } from '../errors/storageErrors.ts';
import { readContinued } from './continuedRead.ts';
import type { PinnedObject } from './objectStorage.ts';
import { storageError, storagePolicy, type Target } from './storageError.ts';

const metadata = z.object({
  generation: z.coerce.string(),
  size: z.coerce.number(),
  crc32c: z.string(),
  contentEncoding: z.string().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
});

interface Generation {
  readonly storage: Storage;
  readonly target: Target;
  readonly generation: string;
  readonly size: number;
  readonly crc32c: string;
}

/**
 * Finds the current generation of an object. `custom` contains the object's custom metadata.
 * @throws IdentityError if the object cannot be found or read; the error contains the URI of the object
 */
export async function pinObject(
  storage: Storage,
  target: Target,
): Promise<PinnedObject & { readonly custom: Readonly<Record<string, string>> }> {
  const file = storage.bucket(target.bucket).file(target.path);
  const [objectMetadata] = await file.getMetadata().catch((reason: unknown) => {
    throw storageError(reason, target);
  });
  const { generation, size, crc32c, contentEncoding, metadata: custom = {} } = metadata.parse(objectMetadata);
  if (contentEncoding !== undefined && contentEncoding !== '') throw objectEncoded({ at: objectUri(target) });
  const pinned = { storage, target, generation, size, crc32c };
  return { generation, size, custom, read: (signal) => readGeneration(pinned, signal) };
}

// Do not use the library's own read stream, because it does not verify the CRC32C of a range, and does not resume after
// a broken connection.
async function* readGeneration(pinned: Generation, signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  const open = (start: number) => openAt(pinned, start, signal);
  const object = { ...pinned, open, premature: () => prematureEnd, retries: storagePolicy };
  let isIntact: boolean;
  try {
    isIntact = yield* readContinued(object, signal);
  } catch (reason) {
    signal.throwIfAborted();
    throw storageError(reason, pinned.target);
  }
  if (!isIntact) throw objectCorrupted({ at: objectUri(pinned.target) });
}

const prematureEnd = { code: 'ERR_STREAM_PREMATURE_CLOSE', message: 'the response ended too early' };

/** Yields the bytes from `start`. Aborts the request if the consumer stops early. */
async function* openAt(pinned: Generation, start: number, signal: AbortSignal): AsyncGenerator<Buffer, void, void> {
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
    if (status === 404) throw objectReplaced({ at: objectUri(target) });
    yield* byteStream.parse(data);
  } finally {
    stop.abort();
  }
}

const byteStream = z.instanceof(Readable).transform((stream): AsyncIterable<Buffer> => stream);
