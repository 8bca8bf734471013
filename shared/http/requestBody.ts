import { pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { bodyInvalid, bodyNoObject, inflatesTooMuch, requestTooLarge } from '../errors/errors.ts';
import { bodyCorrupted, cancelled, encodingUnsupported, temporarySpaceShort } from '../errors/httpErrors.ts';
import { IdentityError, shortenedText } from '../errors/identityError.ts';
import { isSpace, WhiteSpaceRun } from '../json/bytes.ts';
import { JsonError } from '../json/jsonError.ts';
import { JsonSplitter, uniqueValue } from '../json/splitter.ts';
import { utf8Text } from '../json/utf8Text.ts';
import { fixedLimits, TOO_MUCH_WHITE_SPACE } from '../limits.ts';
import { isStorageFull } from '../systemCode.ts';
import { createBodyStorage, type ReceivedBody, type StorageOptions } from './bodyStorage.ts';

/**
 * A body that decompresses to at most this size may have any compression ratio. A larger body must not be more than
 * `fixedLimits.inflation` times as large as its compressed form.
 */
const FREELY_INFLATED_BYTES = 10_000_000;

export interface BodyLimits extends StorageOptions {
  /** The maximum size of the body in bytes. It applies to the received body, and also to the decompressed body. */
  readonly maxBytes: number;
  readonly adviceIfLarger?: string;
  /**
   * True if the body is an export file. Then the reader of the file detects its compression, instead of `receiveBody`.
   */
  readonly isFile?: boolean;
  /** Aborts when the client disconnects or the call times out. The signal's reason is the error to throw. */
  readonly signal: AbortSignal;
}

/**
 * Receives the body of a request, and stores it decompressed, in UTF-8, and without a byte order mark. The caller must
 * close the result.
 * @throws IdentityError 413 as soon as the body exceeds the limit; 415 for an unknown coding; INVALID_ARGUMENT for a
 *   corrupt body, invalid UTF-16 or too much white space; 429 if other bodies occupy the space; 503 if the disk is too
 *   full; CANCELLED when the client disconnects; the signal's reason if the signal aborts
 */
export async function receiveBody(request: Request, limits: BodyLimits): Promise<ReceivedBody> {
  const { maxBytes, adviceIfLarger, signal } = limits;
  const coding = readCoding(request.headers.get('content-encoding'));
  if (Number(request.headers.get('content-length')) > maxBytes)
    throw requestTooLarge({ limit: maxBytes, advice: adviceIfLarger });
  const received = limited(readBody(request, signal), limits);
  const storage = createBodyStorage(limits);
  try {
    const chunks = await decoded(received, coding, limits);
    const spaces = new WhiteSpaceRun();
    for await (const chunk of utf8Text(chunks)) {
      if (spaces.add(chunk) > fixedLimits.whiteSpaceBytes) throw bodyInvalid({ problem: TOO_MUCH_WHITE_SPACE });
      await storage.append(chunk);
    }
    return await storage.finish();
  } catch (error) {
    await storage.close();
    throw receivingError(error);
  }
}

function receivingError(error: unknown): unknown {
  if (isStorageFull(error)) return temporarySpaceShort({}, { cause: error });
  return error instanceof JsonError ? bodyInvalid({ problem: error.message }) : error;
}

/**
 * Decompresses a compressed body. Detects gzip by the first bytes, even without the header Content-Encoding, because
 * clients may send a compressed file without this header.
 */
async function decoded(
  received: AsyncGenerator<Uint8Array>,
  coding: Coding | undefined,
  limits: BodyLimits,
): Promise<AsyncIterable<Uint8Array>> {
  if (coding !== undefined) return decompress(received, coding, limits);
  if (limits.isFile === true) return received;
  const start = await startOf(received, GZIP_MAGIC.length);
  const whole = joined(start, received);
  return GZIP_MAGIC.every((byte, index) => start[index] === byte) ? decompress(whole, 'gzip', limits) : whole;
}

/** The first bytes of gzip. JSON cannot start with these bytes. */
const GZIP_MAGIC = [0x1f, 0x8b];

async function startOf(received: AsyncGenerator<Uint8Array>, wanted: number): Promise<Uint8Array> {
  let start: Uint8Array = new Uint8Array();
  while (start.length < wanted) {
    const { done, value } = await received.next();
    if (done === true) break;
    start = start.length === 0 ? value : Buffer.concat([start, value]);
  }
  return start;
}

async function* joined(start: Uint8Array, others: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (start.length > 0) yield start;
  yield* others;
}

async function* limited(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, adviceIfLarger }: BodyLimits,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > maxBytes) throw requestTooLarge({ limit: maxBytes, advice: adviceIfLarger });
    yield chunk;
  }
}

const DECODED_CHUNK_BYTES = 256 * 1024;

const decoders = {
  br: () => createBrotliDecompress({ chunkSize: DECODED_CHUNK_BYTES }),
  gzip: () => createGunzip({ chunkSize: DECODED_CHUNK_BYTES }),
  'x-gzip': () => createGunzip({ chunkSize: DECODED_CHUNK_BYTES }),
} as const;

type Coding = keyof typeof decoders;

/**
 * @returns undefined if the body is not encoded
 * @throws IdentityError 415 if the coding is unknown, or if there are several codings
 */
function readCoding(header: string | null): Coding | undefined {
  const codings = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim());
  const [coding, ...more] = codings.filter((name) => name !== '' && name !== 'identity');
  if (coding === undefined) return undefined;
  if (!isCoding(coding) || more.length > 0) throw encodingUnsupported({ known: Object.keys(decoders) });
  return coding;
}

function isCoding(name: string): name is Coding {
  return Object.hasOwn(decoders, name);
}

/**
 * Decompresses a body. Does not read far ahead: at most one chunk more than the consumer has requested.
 * @throws IdentityError 413 if the decompressed size is too many times the received size; INVALID_ARGUMENT for a
 *   corrupt body
 */
async function* decompress(
  received: AsyncIterable<Uint8Array>,
  coding: Coding,
  limits: BodyLimits,
): AsyncGenerator<Uint8Array> {
  const decoder = decoders[coding]();
  // If the body or the decoder fails, the pipeline destroys the decoder with the error, and the loop below throws this
  // error.
  pipeline(Readable.from(received), decoder, () => undefined);
  let bytes = 0;
  try {
    for await (const chunk of limited(decoder, limits)) {
      bytes += chunk.byteLength;
      if (bytes > FREELY_INFLATED_BYTES && bytes > fixedLimits.inflation * decoder.bytesWritten)
        throw inflatesTooMuch({ limit: fixedLimits.inflation });
      yield chunk;
    }
  } catch (error) {
    throw isZlibError(error) ? bodyCorrupted({ coding }, { cause: error }) : error;
  }
}

function isZlibError(error: unknown): error is Error {
  return error instanceof Error && 'errno' in error && 'code' in error && /^Z_|^ERR_/.test(String(error.code));
}

/**
 * Yields the body of a request as it arrives. If the consumer stops early, does not cancel the stream, because that
 * would close the connection before the response is sent.
 * @throws IdentityError CANCELLED when the client disconnects; the signal's reason if the signal aborts
 */
export async function* readBody(request: Request, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  if (request.body === null) return;
  const reader = request.body.getReader();
  const stop = () => reader.releaseLock();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      if (signal.aborted) throw abortReason(signal);
      const { done, value } = await readChunk(reader, signal);
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    reader.releaseLock();
  }
}

// The stream of a request fails only if the connection fails. So treat any error as a disconnection of the client.
async function readChunk(reader: ReadableStreamDefaultReader<Uint8Array>, signal: AbortSignal) {
  try {
    return await reader.read();
  } catch {
    throw signal.aborted ? abortReason(signal) : cancelled();
  }
}

function abortReason(signal: AbortSignal): IdentityError {
  return signal.reason instanceof IdentityError ? signal.reason : cancelled();
}

/**
 * Reads a small JSON body. Ignores its content type, as ZITADEL does (docs/zitadel.md, 1.1).
 * @throws IdentityError INVALID_ARGUMENT for an empty body, malformed JSON or bytes that are not UTF-8;
 *   RESOURCE_EXHAUSTED above the limits; the signal's reason when the body does not arrive in time
 */
export async function readJsonBody(request: Request, limits: BodyLimits): Promise<unknown> {
  const body = await receiveBody(request, limits);
  try {
    return parseRequestBody(Buffer.concat(await Array.fromAsync(body.open())));
  } catch (error) {
    if (error instanceof JsonError) throw bodyInvalid({ problem: shortenedText(error.message) });
    throw error;
  } finally {
    await body.close();
  }
}

function parseRequestBody(content: Buffer): unknown {
  if (content.every(isSpace)) throw bodyNoObject();
  const limits = { valueBytes: content.length, fields: fixedLimits.fields };
  const splitter = new JsonSplitter((_path, kind) => {
    if (kind !== 'object') throw bodyNoObject();
    return 'keep';
  }, limits);
  const splitValues = splitter.push(content);
  splitter.end();
  const [value] = splitValues.map(uniqueValue);
  return value;
}
