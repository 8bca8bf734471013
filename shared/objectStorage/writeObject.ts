import { untilAborted } from '../async.ts';
import { objectCorrupted } from '../errors/storageErrors.ts';
import type { WrittenObject } from './objectStorage.ts';
import {
  type Chunk,
  cancelUpload,
  type FinishedObject,
  queryState,
  sendChunk,
  splitChunks,
  type UploadSession,
} from './uploadSession.ts';

/**
 * The size of a chunk; Cloud Storage requires a multiple of 256 KiB. Memory holds two chunks: one is sent while the
 * next one fills.
 */
const chunkSize = 8 * 1024 * 1024;

/** The timeout for cancelling a failed upload. */
const cancelMs = 2_000;

/**
 * Uploads content and finishes the object. After an error or an abort, cancels the upload and rethrows the reason; if
 * the object turns out to be complete, returns it instead.
 * @throws IdentityError naming the object; the errors of `content`; the signal's reason
 */
export async function writeObject(
  session: UploadSession,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<WrittenObject> {
  const stop = new AbortController();
  const abort = AbortSignal.any([signal, stop.signal]);
  const chunks = splitChunks(untilAborted(content, abort), chunkSize);
  const progress: Progress = { sent: undefined };
  try {
    return await sendAll(session, chunks, abort, progress);
  } catch (reason) {
    stop.abort(reason);
    await chunks.return();
    const complete = await cancelUnlessComplete(session, progress);
    if (complete === undefined) throw reason;
    return complete;
  }
}

/** The progress of an upload. */
interface Progress {
  /**
   * The content's totals, set before the last chunk is sent. From then on the object may be complete despite an error.
   */
  sent: Totals | undefined;
}

type Totals = NonNullable<Chunk['totals']>;

async function sendAll(
  session: UploadSession,
  chunks: AsyncGenerator<Chunk, void, void>,
  signal: AbortSignal,
  progress: Progress,
): Promise<WrittenObject> {
  let chunk = await chunks.next();
  while (!chunk.done && chunk.value.totals === undefined) {
    [chunk] = await Promise.all([chunks.next(), sendChunk(session, chunk.value, signal)]);
  }
  if (chunk.done || chunk.value.totals === undefined) throw new Error('the content ended without a last chunk');
  progress.sent = chunk.value.totals;
  const { object } = await sendChunk(session, chunk.value, signal);
  if (object === undefined) throw new Error('the last chunk did not finish the upload');
  return verify(session, object, chunk.value.totals);
}

function verify({ target }: UploadSession, object: FinishedObject, sent: Totals): WrittenObject {
  if (object.size !== sent.size || object.crc32c !== sent.crc32c) throw objectCorrupted(target);
  return { bucket: target.bucket, path: target.path, ...object };
}

// A failed cancellation is harmless: an unfinished upload is invisible and expires by itself.
async function cancelUnlessComplete(session: UploadSession, { sent }: Progress): Promise<WrittenObject | undefined> {
  const signal = AbortSignal.timeout(cancelMs);
  const cancelled = await cancelUpload(session, signal).catch(() => false);
  if (cancelled || sent === undefined) return undefined;
  const state = await queryState(session, signal).catch(() => undefined);
  return state?.object === undefined ? undefined : verify(session, state.object, sent);
}
