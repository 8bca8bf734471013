import { statfs } from 'node:fs/promises';
import { tooManyBytes } from '../errors/httpErrors.ts';

/** What all bodies may take of the memory; the rest of them is in temporary files. */
const MEMORY_BYTES = 64 * 1024 * 1024;

/** The bytes that the bodies of all requests take, in memory and in temporary files. */
export class BodyBudget {
  readonly #limit: number;
  readonly #memoryLimit: number;
  readonly #readFreeBytes: (directory: string) => Promise<number>;
  #memoryBytes = 0;
  #fileBytes = 0;

  /** @param limit without one, the free space of the files is unlimited too */
  constructor(limit = Number.POSITIVE_INFINITY, memoryLimit = MEMORY_BYTES, readFreeBytes = freeBytes) {
    this.#limit = limit;
    this.#memoryLimit = memoryLimit;
    this.#readFreeBytes = readFreeBytes;
  }

  /** Whether bodies have to leave the memory. */
  get isMemoryFull(): boolean {
    return this.#memoryBytes > this.#memoryLimit;
  }

  /** Takes memory for bytes. @throws IdentityError 429 above the limit */
  take(bytes: number): void {
    if (this.#memoryBytes + this.#fileBytes + bytes > this.#limit) throw tooManyBytes();
    this.#memoryBytes += bytes;
  }

  /** Gives the memory of bytes for space in files. @throws IdentityError 429 where less space remains than the files take */
  async moveToFile(bytes: number, directory: string): Promise<void> {
    const files = this.#fileBytes + bytes;
    if (Number.isFinite(this.#limit) && files > (await this.#readFreeBytes(directory))) throw tooManyBytes();
    this.#memoryBytes -= bytes;
    this.#fileBytes += bytes;
  }

  /** Gives back what a body took. */
  release({ memory, file }: { readonly memory: number; readonly file: number }): void {
    this.#memoryBytes -= memory;
    this.#fileBytes -= file;
  }
}

async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
