import { bodyTooSlow } from '../errors/httpErrors.ts';
import { fixedLimits } from '../limits.ts';

const MILLISECONDS_PER_BYTE = 1_000 / fixedLimits.bodyBytesPerSecond;

/**
 * Limits the time that is spent waiting for one body: some seconds, and more with every received byte. The service's own
 * time does not count, so that a slow disk is not the client's fault.
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
      this.#leftMs += (received.value?.byteLength ?? 0) * MILLISECONDS_PER_BYTE - (performance.now() - start);
      return received;
    } finally {
      clearTimeout(timer);
    }
  }
}
