import { isUtf8 } from 'node:buffer';
import { tmpdir } from 'node:os';
import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { bodyInvalid, bodyNoObject, requestTooLarge } from '../errors/errors.ts';
import { bodyCorrupted, cancelled, encodingUnsupported } from '../errors/httpErrors.ts';
import { IdentityError } from '../errors/identityError.ts';
import { duplicateKey } from '../json/duplicateKeys.ts';
import { JsonError, parseJson } from '../json/jsonScanner.ts';
import { createBodyStorage, type ReceivedBody } from './receivedBody.ts';

export type { ReceivedBody } from './receivedBody.ts';

/** The limits of one body. */
export interface BodyLimits {
  /** A larger body is refused, before and after it is inflated. */
  readonly maxBytes: number;
  /** What the refusal says to do instead. */
  readonly adviceIfLarger?: string;
  /** A larger body goes to a temporary file; default 8 MiB. */
  readonly memoryBytes?: number;
  /** Where that file is made; default the system's temporary directory. */
  readonly directory?: string;
  /** Aborted with the error to throw when the client leaves or the call's time is over. */
  readonly signal: AbortSignal;
}

/**
 * Receives the whole body of a request, inflated; the caller closes it.
 *
 * @throws IdentityError 413 as soon as the body is known to be over the limit, 415 for an unknown coding, INVALID_ARGUMENT for
 *   a corrupt one, CANCELLED when the client leaves in the middle, and whatever the signal's reason is
 */
export async function receiveBody(request: Request, limits: BodyLimits): Promise<ReceivedBody> {
  const { maxBytes, adviceIfLarger, signal } = limits;
  const decode = decoderFor(request.headers.get('content-encoding'));
  if (Number(request.headers.get('content-length')) > maxBytes) throw requestTooLarge(maxBytes, adviceIfLarger);
  const received = limited(readBody(request, signal), limits);
  const storage = createBodyStorage(limits.memoryBytes ?? 8 * 1024 * 1024, limits.directory ?? tmpdir());
  try {
    const chunks = decode === undefined ? received : limited(decode(received), limits);
    for await (const chunk of chunks) await storage.append(chunk);
    return await storage.finish();
  } catch (fault) {
    await storage.discard();
    throw fault;
  }
}

async function* limited(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, adviceIfLarger }: BodyLimits,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > maxBytes) throw requestTooLarge(maxBytes, adviceIfLarger);
    yield chunk;
  }
}

/**
 * Reads a request's body as it arrives. A reader that stops early leaves the stream as it is, uncancelled: cancelling
 * would destroy the socket before the answer.
 * @throws IdentityError CANCELLED when the client leaves in the middle, and whatever the signal's reason is
 */
export async function* readBody(request: Request, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  if (request.body === null) return;
  const reader = request.body.getReader();
  const stop = () => reader.releaseLock();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      if (signal.aborted) throw abortReason(signal);
      const { done, value } = await readOrLeave(reader, signal);
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    reader.releaseLock();
  }
}

// A request's stream fails only when its connection does.
async function readOrLeave(reader: ReadableStreamDefaultReader<Uint8Array>, signal: AbortSignal) {
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
 * Reads a small JSON body whole. Its content type is not looked at (zitadel 1.1).
 * @throws IdentityError INVALID_ARGUMENT for an empty body, malformed JSON or bytes that are not UTF-8; RESOURCE_EXHAUSTED above `maxBytes`;
 *   the signal's reason when the body does not arrive in time
 */
export async function readJsonBody(request: Request, maxBytes: number, signal: AbortSignal): Promise<unknown> {
  const body = await receiveBody(request, {
    maxBytes,
    memoryBytes: maxBytes,
    directory: tmpdir(),
    signal,
  });
  try {
    const text = await readText(body.open());
    if (text.trim() === '') throw bodyNoObject();
    const value = parseJson(text, []);
    const twice = duplicateKey(text, value);
    if (twice !== undefined) throw new JsonError([], `duplicate field "${twice}"`);
    return value;
  } catch (error) {
    if (error instanceof JsonError) throw bodyInvalid(error.message);
    throw error;
  } finally {
    await body.close();
  }
}

async function readText(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  const whole = Buffer.concat(parts);
  if (!isUtf8(whole)) throw new JsonError([], 'invalid UTF-8');
  return new TextDecoder().decode(whole);
}

const chunkSize = 256 * 1024;

const decoders: ReadonlyMap<string, () => Transform> = new Map([
  ['br', () => createBrotliDecompress({ chunkSize })],
  ['gzip', () => createGunzip({ chunkSize })],
  ['x-gzip', () => createGunzip({ chunkSize })],
]);

/** Undoes the coding of a body, no further ahead of its reader than a chunk. */
type Decode = (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/**
 * What a Content-Encoding header asks for: gzip or brotli, once.
 * @returns undefined where the body is not encoded
 * @throws IdentityError 415 for any other coding, and for several
 */
function decoderFor(header: string | null): Decode | undefined {
  const codings = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim());
  const [coding, ...more] = codings.filter((one) => one !== '' && one !== 'identity');
  if (coding === undefined) return undefined;
  const create = decoders.get(coding);
  if (create === undefined || more.length > 0) throw encodingUnsupported([...decoders.keys()]);
  return (chunks) => decode(chunks, create(), coding);
}

async function* decode(
  chunks: AsyncIterable<Uint8Array>,
  decoder: Transform,
  coding: string,
): AsyncGenerator<Uint8Array> {
  // Whatever fails destroys the decoder with its reason, which is thrown by the loop.
  pipeline(Readable.from(chunks), decoder, () => undefined);
  try {
    yield* decoder;
  } catch (fault) {
    throw isZlibError(fault) ? bodyCorrupted(coding, fault) : fault;
  }
}

function isZlibError(fault: unknown): fault is Error {
  return fault instanceof Error && 'errno' in fault && 'code' in fault && /^Z_|^ERR_/.test(String(fault.code));
}
