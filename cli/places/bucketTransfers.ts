import { CRC32C } from '@google-cloud/storage';
import { defined } from '../../shared/defined.ts';
import { IdentityError } from '../../shared/errors/identityError.ts';
import {
  placeFailed,
  placeLost,
  placeTimedOut,
  placeUnreachable,
  sourceInvalid,
} from '../../shared/errors/placeErrors.ts';
import { readContinued } from '../../shared/objectStorage/continuedRead.ts';
import type { WrittenObject } from '../../shared/objectStorage/objectStorage.ts';
import { Backoff, parseRetryAfter, type RetryPolicy } from '../../shared/retry.ts';
import { callServer, type HttpCall, type HttpResponse, limitAttempt, readBytes } from '../http/httpClient.ts';
import { isLoopback } from '../http/loopback.ts';

/**
 * An address that permits one download or upload. Its query is a credential, so messages must not contain the query.
 */
interface TransferAddress {
  readonly origin: string;
  readonly path: string;
}

/**
 * Parses the address of a download or upload.
 * @param instance the instance that returned the address, for the error
 * @throws IdentityError if the address would send the file without encryption
 */
export function parseAddress(instance: string, text: string | undefined): TransferAddress {
  const url = URL.parse(text ?? '');
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (url !== null && isSafe) return { origin: url.origin, path: `${url.pathname}${url.search}` };
  const advice = 'check that no gateway answers instead of the instance or changes responses, then repeat the command';
  throw sourceInvalid({ place: instance, problem: 'returned no https:// address for the file', advice });
}

/** The rules for retries of a download or upload. Without progress, the retries end after about a minute. */
const retries: RetryPolicy = {
  attempts: (error) => ([placeUnreachable, placeTimedOut, placeLost].some((kind) => kind.is(error)) ? 12 : 1),
  initialDelayMs: 500,
  maxDelayMs: 15_000,
  statedSeconds: (error) => (error instanceof IdentityError ? error.retryAfterSeconds : undefined),
};

/**
 * Downloads an object from its signed URL. If the connection breaks, continues the download at the first missing byte.
 * @param onReceived called with the number of bytes that have arrived so far
 * @throws IdentityError if the object is incomplete or damaged, or the server denies the download; the signal's reason
 * after an abort
 */
export async function* downloadObject(
  address: TransferAddress,
  { size, crc32c }: Pick<WrittenObject, 'size' | 'crc32c'>,
  onReceived: (bytes: number) => void,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  async function* open(start: number): AsyncGenerator<Uint8Array> {
    let position = start;
    for await (const chunk of receive(address, start, signal)) {
      position += chunk.byteLength;
      onReceived(position);
      yield chunk;
    }
  }
  const premature = (position: number) =>
    broken(address, 'download', `the response ended after ${position} of ${size} bytes`);
  if (yield* readContinued({ size, crc32c, open, premature, retries }, signal)) return;
  const advice = 'repeat the command';
  throw sourceInvalid({
    place: address.origin,
    problem: 'returned a file that differs from the file that the instance has written',
    advice,
  });
}

/** The statuses with which Cloud Storage or a proxy responds to a request for an expired URL. */
const expired: ReadonlySet<number> = new Set([400, 401, 403]);

function expiry(start: number, { status }: HttpResponse): string {
  return `the download broke after ${start} bytes, and the URL of the download has expired (status ${status})`;
}

async function* receive({ origin, path }: TransferAddress, start: number, signal: AbortSignal) {
  const range = start === 0 ? {} : { headers: { range: `bytes=${start}-` } };
  await using response = await callServer(origin, { method: 'GET', path, accept: '*/*', ...range }, signal);
  if (response.status !== (start === 0 ? 200 : 206)) {
    if (start > 0 && expired.has(response.status))
      throw placeFailed({ place: origin, reason: expiry(start, response) });
    throw rejected({ origin, path }, 'download', response);
  }
  yield* response.body;
}

export interface FileUpload {
  readonly address: TransferAddress;
  readonly size: number;
  /** Called with the number of bytes that the bucket has received so far. */
  readonly onSent: (bytes: number) => void;
}

/** The number of bytes in one request. Cloud Storage requires a multiple of 256 KiB. */
const PIECE_BYTES = 8 * 1024 * 1024;

/**
 * Uploads a file in pieces of equal size. If the connection breaks, asks the bucket how many bytes it has received, and
 * sends the remaining bytes of the piece.
 * @throws IdentityError if the bucket rejects the upload; the errors of reading `content`; the signal's reason after an
 * abort
 */
export async function uploadFile(
  upload: FileUpload,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  for await (const piece of pieces(content, upload.size)) {
    await sendPiece(upload, piece, signal);
    upload.onSent(piece.start + piece.bytes.byteLength);
  }
}

interface Piece {
  readonly start: number;
  readonly bytes: Uint8Array;
  /** The checksum of the whole file. Only the last piece contains it. */
  readonly crc32c: string | undefined;
}

/**
 * Splits content into pieces of equal size; only the last piece can be shorter. All pieces share a buffer, so the
 * caller must finish with a piece before it requests the next piece.
 */
async function* pieces(content: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Piece, void, void> {
  const checksum = new CRC32C();
  const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, size));
  let [start, filled] = [0, 0];
  for await (const chunk of content) {
    if (start + filled + chunk.byteLength > size) throw fileChanged();
    checksum.update(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    for (let used = 0; used < chunk.byteLength; ) {
      if (filled === buffer.byteLength) {
        yield { start, bytes: buffer, crc32c: undefined };
        [start, filled] = [start + filled, 0];
      }
      const part = chunk.subarray(used, used + buffer.byteLength - filled);
      buffer.set(part, filled);
      [used, filled] = [used + part.byteLength, filled + part.byteLength];
    }
  }
  if (start + filled < size) throw fileChanged();
  yield { start, bytes: buffer.subarray(0, filled), crc32c: checksum.toString() };
}

function fileChanged(): Error {
  return sourceInvalid({
    place: 'the file',
    problem: 'changed while this command read it',
    advice: 'repeat the command',
  });
}

/** Sends a piece until the bucket has received it. Sends the last piece until the bucket confirms the whole file. */
async function sendPiece(upload: FileUpload, piece: Piece, signal: AbortSignal): Promise<void> {
  const backoff = new Backoff(retries, signal);
  const end = piece.start + piece.bytes.byteLength;
  const isLast = piece.crc32c !== undefined;
  let from: number | undefined = piece.start;
  for (;;) {
    try {
      const state: Promise<UploadState> =
        from === undefined ? askPosition(upload, signal) : put(upload, piece, from, signal);
      const { position, isComplete }: UploadState = await state;
      if (isLast ? isComplete : position === end) return;
      if (position === from || position < piece.start || position > end)
        throw broken(
          upload.address,
          'upload',
          `the bucket contains ${position} bytes of the file, outside the expected range ${piece.start} to ${end}`,
        );
      if (from !== undefined) backoff.progressed();
      from = position;
    } catch (error) {
      if (!(await backoff.failed(error))) throw error;
      from = undefined;
    }
  }
}

interface UploadState {
  readonly position: number;
  readonly isComplete: boolean;
}

/**
 * `PIECE_MS` limits the time of a request that sends a piece of a file, `POSITION_MS` that of a request that asks how
 * many bytes have arrived.
 */
const PIECE_MS = 600_000;
const POSITION_MS = 30_000;

function put(
  upload: FileUpload,
  { start, bytes, crc32c }: Piece,
  from: number,
  signal: AbortSignal,
): Promise<UploadState> {
  const part = bytes.subarray(from - start);
  const range = part.byteLength === 0 ? '*' : `${from}-${from + part.byteLength - 1}`;
  const hash = crc32c === undefined ? {} : { 'x-goog-hash': `crc32c=${crc32c}` };
  return callUpload(upload, { range, headers: hash, body: part, limitMs: PIECE_MS }, signal);
}

function askPosition(upload: FileUpload, signal: AbortSignal): Promise<UploadState> {
  return callUpload(upload, { range: '*', headers: {}, body: new Uint8Array(), limitMs: POSITION_MS }, signal);
}

interface UploadCall {
  readonly range: string;
  readonly headers: NonNullable<HttpCall['headers']>;
  readonly body: Uint8Array;
  readonly limitMs: number;
}

const INCOMPLETE = 308;
const MAX_RESPONSE_BYTES = 100_000;

async function callUpload(
  { address, size }: FileUpload,
  { range, headers, body, limitMs }: UploadCall,
  signal: AbortSignal,
): Promise<UploadState> {
  const { origin, path } = address;
  const limit = limitAttempt({ origin, signal, responseLimitMs: limitMs });
  const described = { ...headers, 'content-range': `bytes ${range}/${size}`, 'content-length': `${body.byteLength}` };
  const call: HttpCall = { method: 'PUT', path, accept: '*/*', headers: described, body: [body] };
  try {
    await using response = await callServer(origin, call, limit.signal);
    // Read the response to its end, because only then can the next request use the same connection.
    await readBytes(response.body, MAX_RESPONSE_BYTES);
    if (response.status === 200 || response.status === 201) return { position: size, isComplete: true };
    if (response.status !== INCOMPLETE) throw rejected(address, 'upload', response);
    const [, last] = /-(\d+)$/.exec(response.headers.range ?? '') ?? [];
    return { position: last === undefined ? 0 : Number(last) + 1, isComplete: false };
  } catch (error) {
    throw limit.error('the upload') ?? error;
  }
}

type Transfer = 'download' | 'upload';

function broken({ origin }: TransferAddress, transfer: Transfer, reason: string, retryAfterSeconds?: number): Error {
  return placeLost({ place: origin, moment: `during the ${transfer}`, reason }, defined({ retryAfterSeconds }));
}

/**
 * Creates the error for an unexpected status. If a retry may succeed, creates the error of a broken connection, because
 * after this error the transfer is retried.
 */
function rejected(address: TransferAddress, transfer: Transfer, { status, headers }: HttpResponse): Error {
  if (status === 408 || status === 429 || status >= 500)
    return broken(address, transfer, `status ${status}`, parseRetryAfter(headers['retry-after'], Date.now()));
  return placeFailed({
    place: address.origin,
    reason: `the bucket does not permit the ${transfer} (status ${status})`,
  });
}
