import { tmpdir } from 'node:os';
import { requestTooLarge } from '../errors/errors.ts';
import { cancelled } from '../errors/httpErrors.ts';
import { IdentityError } from '../errors/identityError.ts';
import { decoderFor } from './contentEncoding.ts';
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
      if (signal.aborted) throw reasonOf(signal);
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
    throw signal.aborted ? reasonOf(signal) : cancelled();
  }
}

function reasonOf(signal: AbortSignal): IdentityError {
  return signal.reason instanceof IdentityError ? signal.reason : cancelled();
}
