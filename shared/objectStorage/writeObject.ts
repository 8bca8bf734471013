import { setImmediate } from 'node:timers/promises';
import { CRC32C, type Storage } from '@google-cloud/storage';
import { z } from 'zod';
import { untilAborted } from '../async.ts';
import { defined } from '../defined.ts';
import { objectCorrupted, objectUri, storageUnavailable } from '../errors/storageErrors.ts';
import { Backoff } from '../retry.ts';
import type { WrittenObject } from './objectStorage.ts';
import { storageError, storagePolicy, type Target } from './storageError.ts';

/**
 * A resumable upload in progress. Readers cannot see the object until the upload is complete. Cloud Storage deletes an
 * unfinished upload after some time.
 */
interface UploadSession {
  readonly storage: Storage;
  readonly uri: string;
  readonly target: Target;
}

const finishedObject = z.object({ generation: z.coerce.string(), size: z.coerce.number(), crc32c: z.string() });

type FinishedObject = z.infer<typeof finishedObject>;

/**
 * `persisted` is the number of bytes that Cloud Storage has stored. `object` is present once the upload is complete.
 */
interface UploadState {
  readonly persisted: number;
  readonly object: FinishedObject | undefined;
}

interface UploadProperties {
  readonly custom?: Readonly<Record<string, string>>;
  readonly size?: number;
  readonly origin?: string | undefined;
}

/**
 * Starts the upload of an object that must not exist yet.
 * @throws IdentityError if the upload cannot start; the error contains the URI of the object
 */
export async function startUpload(
  storage: Storage,
  target: Target,
  { custom, size, origin }: UploadProperties = {},
): Promise<UploadSession> {
  const file = storage.bucket(target.bucket).file(target.path);
  const contentType = target.path.endsWith('.gz') ? 'application/gzip' : 'application/json';
  const options = {
    preconditionOpts: { ifGenerationMatch: 0 },
    metadata: {
      contentType,
      ...defined({ contentLength: size, metadata: custom }),
    },
    ...defined({ origin }),
  };
  const [uri] = await file.createResumableUpload(options).catch((reason: unknown) => {
    throw storageError(reason, target);
  });
  return { storage, uri, target };
}

/**
 * The size of a chunk, a multiple of 256 KiB as Cloud Storage requires. Two chunks are in memory: while the first chunk
 * is sent, the second is filled with content.
 */
const UPLOAD_CHUNK_BYTES = 8 * 1024 * 1024;

const CANCEL_MS = 2_000;

/**
 * Uploads the content, and completes the object. After an error or an abort, cancels the upload and throws the reason.
 * If the object is already complete, returns the object instead.
 * @throws IdentityError if the upload fails; the error contains the URI of the object. Also any error that `content`
 * throws. The signal's reason if the signal aborts
 */
export async function writeObject(
  session: UploadSession,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<WrittenObject> {
  const stop = new AbortController();
  const abort = AbortSignal.any([signal, stop.signal]);
  const chunks = splitChunks(untilAborted(content, abort));
  const progress: WriteProgress = { sent: undefined };
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

interface WriteProgress {
  /**
   * The size and the checksum of the whole content, set before the last chunk is sent. After that, the object may be
   * complete even if the request fails.
   */
  sent: Totals | undefined;
}

type Totals = NonNullable<Chunk['totals']>;

async function sendAll(
  session: UploadSession,
  chunks: AsyncGenerator<Chunk, void, void>,
  signal: AbortSignal,
  progress: WriteProgress,
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
  if (object.size !== sent.size || object.crc32c !== sent.crc32c) throw objectCorrupted({ at: objectUri(target) });
  return { bucket: target.bucket, path: target.path, ...object };
}

/**
 * Cancels an upload. If the upload was already complete, the cancellation has no effect, and this function returns the
 * object. Cloud Storage reports the state of a complete upload, but not of a cancelled upload, so the state shows which
 * case applies.
 */
async function cancelUnlessComplete(
  session: UploadSession,
  { sent }: WriteProgress,
): Promise<WrittenObject | undefined> {
  const signal = AbortSignal.timeout(CANCEL_MS);
  await cancelUpload(session, signal);
  if (sent === undefined) return undefined;
  const state = await queryState(session, signal).catch(() => undefined);
  return state?.object === undefined ? undefined : verify(session, state.object, sent);
}

/**
 * Sends a chunk until Cloud Storage has stored all of it. After a transient error, asks for the state of the upload,
 * and continues from there. This function replaces the library's own upload stream, which sends credentials only to
 * Google's endpoint, cannot abort a request in flight, and reports a failure if the upload succeeds but the last
 * response is lost.
 * @throws IdentityError if the upload fails; the error contains the URI of the object. The signal's reason if the
 * signal aborts
 */
async function sendChunk(session: UploadSession, chunk: Chunk, signal: AbortSignal): Promise<UploadState> {
  const backoff = new Backoff(storagePolicy, signal);
  const pause = async (reason: unknown) => {
    if (!(await backoff.failed(reason))) throw storageError(reason, session.target);
    return undefined;
  };
  let from: number | undefined = chunk.start;
  for (;;) {
    const response: Promise<UploadState> =
      from === undefined ? queryState(session, signal) : sendFrom(session, chunk, from, signal);
    const state: UploadState | undefined = await response.catch(pause);
    if (state !== undefined && isPersisted(state, chunk)) return state;
    const persisted: number | undefined = state && checkPosition(session, chunk, state.persisted);
    if (persisted !== undefined && persisted === from) await pause(noProgress);
    else if (persisted !== undefined && from !== undefined) backoff.progressed();
    from = persisted;
  }
}

function queryState(session: UploadSession, signal: AbortSignal): Promise<UploadState> {
  return put(session, { 'content-range': 'bytes */*' }, undefined, signal);
}

/** Cancels an upload. Ignores a failure, because an unfinished upload is invisible and is deleted after some time. */
export async function cancelUpload({ storage, uri }: UploadSession, signal: AbortSignal): Promise<void> {
  const cancelling = { ...common, method: 'DELETE', url: uri, signal, validateStatus: () => true } as const;
  await storage.authClient.request(cancelling).catch(() => {});
}

const common = { redirect: 'manual', retry: false } as const;
const incomplete = 308;
const noProgress = { status: 503, message: 'no byte of the chunk was persisted' };

function isPersisted(state: UploadState, chunk: Chunk): boolean {
  if (state.object !== undefined) return true;
  return chunk.totals === undefined && state.persisted === chunk.start + chunk.bytes.length;
}

function checkPosition(session: UploadSession, chunk: Chunk, position: number): number {
  if (position >= chunk.start && position <= chunk.start + chunk.bytes.length) return position;
  throw storageUnavailable(
    { at: objectUri(session.target) },
    { cause: new Error(`the upload is at byte ${position}, not at ${chunk.start}`) },
  );
}

function sendFrom(session: UploadSession, chunk: Chunk, from: number, signal: AbortSignal): Promise<UploadState> {
  const bytes = chunk.bytes.subarray(from - chunk.start);
  const range = bytes.length === 0 ? '*' : `${from}-${from + bytes.length - 1}`;
  const headers = { 'content-range': `bytes ${range}/${chunk.totals?.size ?? '*'}` };
  if (chunk.totals === undefined) return put(session, headers, bytes, signal);
  return put(session, { ...headers, 'x-goog-hash': `crc32c=${chunk.totals.crc32c}` }, bytes, signal);
}

async function put(
  { storage, uri, target }: UploadSession,
  headers: Record<string, string>,
  bytes: Uint8Array | undefined,
  signal: AbortSignal,
): Promise<UploadState> {
  const {
    status,
    data,
    headers: responseHeaders,
  } = await storage.authClient.request<unknown>({
    ...common,
    method: 'PUT',
    url: uri,
    headers,
    signal,
    ...(bytes === undefined || bytes.length === 0 ? {} : { data: bytes }),
    validateStatus: (code) => code === 200 || code === 201 || code === incomplete || code === 404 || code === 410,
  });
  if (status === 404 || status === 410)
    throw storageUnavailable({ at: objectUri(target) }, { cause: new Error('the upload session no longer exists') });
  if (status !== incomplete) return finished(finishedObject.parse(data));
  const lastByte = /-(\d+)$/.exec(responseHeaders.get('range') ?? '')?.[1] ?? -1;
  return { persisted: Number(lastByte) + 1, object: undefined };
}

const finished = (object: FinishedObject): UploadState => ({ persisted: object.size, object });

/**
 * Consecutive bytes of an object. Only the last chunk has `totals`: the size and the checksum of the whole object. The
 * last chunk may be empty.
 */
interface Chunk {
  readonly start: number;
  readonly bytes: Uint8Array;
  readonly totals: { readonly size: number; readonly crc32c: string } | undefined;
}

/**
 * After this number of bytes, yield to the event loop. Otherwise, content that is already in memory could delay the
 * upload.
 */
const yieldInterval = 512 * 1024;

/**
 * Splits the content into chunks of the same size; only the last chunk may be shorter. The chunks alternate between two
 * buffers. So do not use a chunk any longer once the second chunk after it is requested.
 */
async function* splitChunks(content: AsyncIterable<Uint8Array>): AsyncGenerator<Chunk, void, void> {
  const size = UPLOAD_CHUNK_BYTES;
  const crc32c = new CRC32C();
  let buffer = Buffer.allocUnsafeSlow(size);
  let spare: Buffer<ArrayBuffer> | undefined;
  let start = 0;
  let filled = 0;
  let sinceYield = 0;
  for await (const piece of content) {
    sinceYield += piece.length;
    if (sinceYield >= yieldInterval) sinceYield = await setImmediate(0);
    crc32c.update(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength));
    for (let consumed = 0; consumed < piece.length; ) {
      if (filled === size) {
        yield { start, bytes: buffer, totals: undefined };
        [buffer, spare] = [spare ?? Buffer.allocUnsafeSlow(size), buffer];
        start += size;
        filled = 0;
      }
      const part = piece.subarray(consumed, consumed + size - filled);
      buffer.set(part, filled);
      filled += part.length;
      consumed += part.length;
    }
  }
  yield { start, bytes: buffer.subarray(0, filled), totals: { size: start + filled, crc32c: crc32c.toString() } };
}
