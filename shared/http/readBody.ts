import { cancelled } from '../errors/httpErrors.ts';
import { IdentityError } from '../errors/identityError.ts';
import { BodyPace } from './bodyPace.ts';

const expectedBodies = new WeakSet<Request>();

/**
 * Notes that the caller may send this request's body, even if it will not be read: a client that sends everything before
 * it reads then gets the response, instead of a reset.
 */
export function expectBody(request: Request): void {
  expectedBodies.add(request);
}

/** Whether a request's body is expected, which holds only for callers with a valid token. */
export function isBodyExpected(request: Request): boolean {
  return expectedBodies.has(request);
}

/**
 * Reads a request's body as it arrives. Stopping early does not cancel the stream: that would destroy the socket before
 * the response.
 * @throws IdentityError CANCELLED when the client disconnects, 408 when it sends too slowly, or the signal's reason
 */
export async function* readBody(request: Request, callSignal: AbortSignal): AsyncGenerator<Uint8Array> {
  if (request.body === null) return;
  expectBody(request);
  const reader = request.body.getReader();
  const pace = new BodyPace();
  const signal = AbortSignal.any([callSignal, pace.signal]);
  const stop = () => reader.releaseLock();
  signal.addEventListener('abort', stop, { once: true });
  try {
    for (;;) {
      if (signal.aborted) throw abortReason(signal);
      const { done, value } = await pace.awaitChunk(readChunk(reader, signal));
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    reader.releaseLock();
  }
}

// A request's stream fails only when its connection does.
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
