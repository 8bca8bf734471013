import { untilAborted } from '../async.ts';
import { objectCorrupted } from '../errors/storageErrors.ts';
import type { WrittenObject } from './objectStorage.ts';
import {
  askState,
  type Chunk,
  cancelUpload,
  type FinishedObject,
  sendChunk,
  splitChunks,
  type UploadSession,
} from './uploadSession.ts';

/** A multiple of 256 KiB, as Cloud Storage wants it. Two are held at a time: one is sent while the next one fills. */
const chunkSize = 8 * 1024 * 1024;

/** How long the cancelling of a failed upload may take. */
const cancelMs = 2_000;

/**
 * Sends content into an upload and finishes it. When anything fails or `signal` aborts, the upload is cancelled and the
 * error passed on, unless the object turns out to be complete: then that is the result.
 * @throws IdentityError naming the object; whatever `content` throws; the signal's reason
 */
export async function writeObject(
  session: UploadSession,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<WrittenObject> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const chunks = splitChunks(untilAborted(content, either), chunkSize);
  const progress: Progress = { last: undefined };
  try {
    return await sendAll(session, chunks, either, progress);
  } catch (reason) {
    stop.abort(reason);
    await chunks.return();
    const complete = await settle(session, progress);
    if (complete === undefined) throw reason;
    return complete;
  }
}

/** The last chunk, once it is being sent: from then on the object may be complete whatever fails. */
interface Progress {
  last: Whole | undefined;
}

type Whole = NonNullable<Chunk['whole']>;

async function sendAll(
  session: UploadSession,
  chunks: AsyncGenerator<Chunk, void, void>,
  signal: AbortSignal,
  progress: Progress,
): Promise<WrittenObject> {
  let chunk = await chunks.next();
  while (!chunk.done && chunk.value.whole === undefined) {
    [chunk] = await Promise.all([chunks.next(), sendChunk(session, chunk.value, signal)]);
  }
  if (chunk.done || chunk.value.whole === undefined) throw new Error('the content ended without a last chunk');
  progress.last = chunk.value.whole;
  const { object } = await sendChunk(session, chunk.value, signal);
  if (object === undefined) throw new Error('the last chunk did not finish the upload');
  return written(session, object, chunk.value.whole);
}

function written({ target }: UploadSession, object: FinishedObject, sent: Whole): WrittenObject {
  if (object.size !== sent.size || object.crc32c !== sent.crc32c) throw objectCorrupted(target);
  return { bucket: target.bucket, path: target.path, ...object };
}

// Whether cancelling works does not matter to the caller: an unfinished upload shows nothing, and expires by itself.
async function settle(session: UploadSession, { last }: Progress): Promise<WrittenObject | undefined> {
  const signal = AbortSignal.timeout(cancelMs);
  const cancelled = await cancelUpload(session, signal).catch(() => false);
  if (cancelled || last === undefined) return undefined;
  const state = await askState(session, signal).catch(() => undefined);
  return state?.object === undefined ? undefined : written(session, state.object, last);
}
