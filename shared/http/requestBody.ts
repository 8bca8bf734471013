import { tmpdir } from 'node:os';
import { bodyCompressed, cancelled, requestTooLarge } from '../errors/errors.ts';
import { IdentityError } from '../errors/identityError.ts';
import { createBodyStorage, type ReceivedBody } from './receivedBody.ts';

export type { ReceivedBody } from './receivedBody.ts';

/** The limits of one body. */
export interface BodyLimits {
  /** A larger body is refused. */
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
 * Receives the whole body of a request; the caller closes it.
 *
 * @throws IdentityError 413 as soon as the body is known to be over the limit, INVALID_ARGUMENT when it is compressed,
 *   CANCELLED when the client leaves in the middle, and whatever the signal's reason is
 */
export async function receiveBody(request: Request, limits: BodyLimits): Promise<ReceivedBody> {
  const encoding = request.headers.get('content-encoding') ?? 'identity';
  if (encoding.trim().toLowerCase() !== 'identity') throw bodyCompressed();
  if (Number(request.headers.get('content-length')) > limits.maxBytes)
    throw requestTooLarge(limits.maxBytes, limits.adviceIfLarger);
  const storage = createBodyStorage(limits.memoryBytes ?? 8 * 1024 * 1024, limits.directory ?? tmpdir());
  try {
    let size = 0;
    for await (const chunk of readBody(request, limits.signal)) {
      size += chunk.byteLength;
      if (size > limits.maxBytes) throw requestTooLarge(limits.maxBytes, limits.adviceIfLarger);
      await storage.append(chunk);
    }
    return await storage.finish();
  } catch (fault) {
    await storage.discard();
    throw fault;
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
