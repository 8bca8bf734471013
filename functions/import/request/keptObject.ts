import type { BodyBudget } from '../../../shared/http/bodyStorage.ts';
import type { PinnedObject } from '../../../shared/objectStorage/objectStorage.ts';

/**
 * The size of the chunks that `read` yields. The reader of the file needs memory in proportion to this size, and larger
 * chunks are not faster.
 */
const CHUNK_BYTES = 64 * 1024;

/**
 * An object that an import downloads once, keeps in memory, and reads in each phase. If the memory budget for request
 * bodies does not suffice, each read downloads the object.
 */
export class KeptObject implements Disposable {
  private readonly object: Pick<PinnedObject, 'size' | 'read'>;
  private readonly budget: BodyBudget;
  private readonly isKept: boolean;
  private bytes: Uint8Array | undefined;

  constructor(object: Pick<PinnedObject, 'size' | 'read'>, budget: BodyBudget) {
    this.object = object;
    this.budget = budget;
    this.isKept = budget.takeMemory(object.size);
  }

  /** Yields the object's bytes. Do not modify the chunks. */
  async *read(signal: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    const { bytes } = this;
    if (bytes !== undefined) {
      for (let start = 0; start < bytes.length; start += CHUNK_BYTES) yield bytes.subarray(start, start + CHUNK_BYTES);
      return;
    }
    const { size } = this.object;
    const kept = this.isKept ? Buffer.allocUnsafeSlow(size) : undefined;
    let position = 0;
    for await (const chunk of this.object.read(signal)) {
      // If the download is longer than the object, keep only the bytes that fit. The checksum then differs, so the read
      // fails at its end.
      kept?.set(chunk.subarray(0, size - position), position);
      position = Math.min(size, position + chunk.length);
      yield chunk;
    }
    this.bytes = kept;
  }

  [Symbol.dispose](): void {
    this.bytes = undefined;
    if (this.isKept) this.budget.release({ memory: this.object.size, file: 0 });
  }
}
