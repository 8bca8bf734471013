import { setImmediate } from 'node:timers/promises';
import { CRC32C, type Storage } from '@google-cloud/storage';
import { z } from 'zod';
import { storageUnavailable } from '../errors/storageErrors.ts';
import { Backoff } from '../retry.ts';
import { storageError, storagePolicy, type Target } from './storageError.ts';

/** A resumable upload that was begun. Nothing of it is visible before its last byte has come, and it expires by itself. */
export interface UploadSession {
  readonly storage: Storage;
  readonly uri: string;
  readonly target: Target;
}

const finishedObject = z.object({ generation: z.coerce.string(), size: z.coerce.number(), crc32c: z.string() });

/** What Cloud Storage says of an object once it is complete. */
export type FinishedObject = z.infer<typeof finishedObject>;

/** How far an upload has come: how many bytes are kept, and the object if it is finished. */
export interface UploadState {
  readonly kept: number;
  readonly object: FinishedObject | undefined;
}

/**
 * Begins an upload that creates its object only where there is none.
 * @throws IdentityError naming the object
 */
export async function startUpload(storage: Storage, target: Target): Promise<UploadSession> {
  const file = storage.bucket(target.bucket).file(target.path);
  const options = { preconditionOpts: { ifGenerationMatch: 0 }, metadata: { contentType: 'application/json' } };
  const [uri] = await file.createResumableUpload(options).catch((reason: unknown) => {
    throw storageError(reason, target);
  });
  return { storage, uri, target };
}

/**
 * Sends one chunk until all of it is kept; what got lost with a connection is sent again from where it stopped.
 * The library's own upload stream is not used: to another endpoint than Google's it sends no credentials, and it
 * neither stops a request that is under way nor notices that an upload whose last answer was lost has succeeded.
 * @throws IdentityError naming the object; the signal's reason after an abort
 */
export async function sendChunk(session: UploadSession, chunk: Chunk, signal: AbortSignal): Promise<UploadState> {
  const backoff = new Backoff(storagePolicy, signal);
  const pause = async (reason: unknown) => {
    if (!(await backoff.failed(reason))) throw storageError(reason, session.target);
    return undefined;
  };
  let from: number | undefined = chunk.start;
  for (;;) {
    const asked: Promise<UploadState> =
      from === undefined ? askState(session, signal) : sendFrom(session, chunk, from, signal);
    const state: UploadState | undefined = await asked.catch(pause);
    if (state !== undefined && isSettled(state, chunk)) return state;
    const kept: number | undefined = state && checkKept(session, chunk, state.kept);
    if (kept !== undefined && kept === from) await pause(nothingKept);
    else if (kept !== undefined && from !== undefined) backoff.progressed();
    from = kept;
  }
}

/** Asks how far an upload has come. */
export function askState(session: UploadSession, signal: AbortSignal): Promise<UploadState> {
  return put(session, { 'content-range': 'bytes */*' }, undefined, signal);
}

/** Ends an upload that shall not be finished. Resolves to whether it was still unfinished. */
export async function cancelUpload(session: UploadSession, signal: AbortSignal): Promise<boolean> {
  const { status } = await session.storage.authClient.request({
    ...common,
    method: 'DELETE',
    url: session.uri,
    signal,
    validateStatus: () => true,
  });
  return status === cancelled || status === 204;
}

const common = { redirect: 'manual', retry: false } as const;
const incomplete = 308;
const cancelled = 499;
const nothingKept = { status: 503, message: 'nothing of a chunk was kept' };

function isSettled(state: UploadState, chunk: Chunk): boolean {
  if (state.object !== undefined) return true;
  return chunk.whole === undefined && state.kept === chunk.start + chunk.bytes.length;
}

function checkKept(session: UploadSession, chunk: Chunk, kept: number): number {
  if (kept >= chunk.start && kept <= chunk.start + chunk.bytes.length) return kept;
  throw storageUnavailable(session.target, new Error(`the upload stands at ${kept}, not at ${chunk.start}`));
}

function sendFrom(session: UploadSession, chunk: Chunk, from: number, signal: AbortSignal): Promise<UploadState> {
  const rest = chunk.bytes.subarray(from - chunk.start);
  const range = rest.length === 0 ? '*' : `${from}-${from + rest.length - 1}`;
  const headers = { 'content-range': `bytes ${range}/${chunk.whole?.size ?? '*'}` };
  if (chunk.whole === undefined) return put(session, headers, rest, signal);
  return put(session, { ...headers, 'x-goog-hash': `crc32c=${chunk.whole.crc32c}` }, rest, signal);
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
    headers: answer,
  } = await storage.authClient.request<unknown>({
    ...common,
    method: 'PUT',
    url: uri,
    headers,
    signal,
    ...(bytes === undefined || bytes.length === 0 ? {} : { data: bytes }),
    validateStatus: (code) => code === 200 || code === 201 || code === incomplete || code === 404 || code === 410,
  });
  if (status === 404 || status === 410) throw storageUnavailable(target, new Error('the upload session has gone'));
  if (status !== incomplete) return finished(finishedObject.parse(data));
  return { kept: Number(/-(\d+)$/.exec(answer.get('range') ?? '')?.[1] ?? -1) + 1, object: undefined };
}

const finished = (object: FinishedObject): UploadState => ({ kept: object.size, object });

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
export async function* splitChunks(
  content: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<Chunk, void, void> {
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
