import { bodyTooSlow, cancelled } from '../errors/httpErrors.ts';
import { IdentityError } from '../errors/identityError.ts';
import { fixedLimits } from '../limits.ts';
import { expectBody } from './exchange.ts';

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

const MILLISECONDS_PER_BYTE = 1_000 / fixedLimits.bodyBytesPerSecond;

/**
 * Limits the time that is spent waiting for one body: some seconds, and more with every received byte, up to a minute. The
 * service's own time does not count, so that a slow disk is not the client's fault.
 */
export class BodyPace {
  readonly #tooSlow = new AbortController();
  /** Aborts when the body is too slow; the reason is the error to throw. */
  readonly signal = this.#tooSlow.signal;
  #leftMs: number = fixedLimits.bodyGraceMs;

  /** Waits for the client's next chunk; `signal` may abort meanwhile. */
  async awaitChunk<Chunk extends { readonly value?: Uint8Array | undefined }>(chunk: Promise<Chunk>): Promise<Chunk> {
    const start = performance.now();
    // The last chunk may have arrived late, just before its timer fired.
    const leftMs = Math.max(0, this.#leftMs);
    const timer = setTimeout(() => this.#tooSlow.abort(bodyTooSlow(fixedLimits.bodyBytesPerSecond)), leftMs);
    try {
      const received = await chunk;
      const earnedMs = (received.value?.byteLength ?? 0) * MILLISECONDS_PER_BYTE;
      this.#leftMs = Math.min(this.#leftMs + earnedMs - (performance.now() - start), fixedLimits.stallMs);
      return received;
    } finally {
      clearTimeout(timer);
    }
  }
}
