import { createCipheriv, randomBytes, randomUUID } from 'node:crypto';
import { type FileHandle, open, statfs, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporarySpaceShort, tooManyBytes } from '../errors/httpErrors.ts';

const spoolBatchBytes = 256 * 1024;
const maxWriteBufferBytes = 4 * spoolBatchBytes;
/**
 * The maximum size of a chunk that readers of a body receive. Larger chunks are not faster. They need more memory,
 * because readers create many objects for each chunk.
 */
const chunkBytes = 64 * 1024;

export interface ReceivedBody {
  /** The size of the body in bytes. */
  readonly size: number;
  /**
   * Reads the bytes from `start` up to `end`. If both are absent, reads all bytes. Callers may read the body several
   * times, even at the same time. A chunk has at most 64 KiB. Do not modify a chunk, because it may share its memory
   * with the stored body.
   */
  open(start?: number, end?: number): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

export interface BodyStorage extends Pick<ReceivedBody, 'close'> {
  append(chunk: Uint8Array): Promise<void>;
  /** After this call, call only `close`. */
  finish(): Promise<ReceivedBody>;
}

export interface StorageOptions {
  /** A body up to this size stays in memory, unless the bodies of other requests already fill the memory. */
  readonly memoryBytes?: number;
  readonly directory?: string;
  readonly budget?: BodyBudget;
}

export function createBodyStorage(options: StorageOptions): BodyStorage {
  const { memoryBytes = 8 * 1024 * 1024, directory = tmpdir(), budget = new BodyBudget() } = options;
  // Copy all chunks into one buffer. If a client sends single bytes, each byte would otherwise remain in memory as an
  // object.
  let buffer = Buffer.alloc(0);
  let filled = 0;
  let spooledBytes = 0;
  let file: FileHandle | undefined;
  const encrypt = fileEncryption();
  let isClosed = false;
  const spool = async () => {
    const bytes = filled;
    await budget.moveToFile(bytes, directory);
    const start = spooledBytes;
    [filled, spooledBytes] = [0, spooledBytes + bytes];
    file ??= await openUnnamedFile(directory);
    await file.writeFile(encrypt(buffer.subarray(0, bytes), start));
    if (buffer.byteLength > maxWriteBufferBytes) buffer = Buffer.alloc(0);
  };
  const close = async () => {
    budget.release({ memory: filled, file: spooledBytes });
    [buffer, filled, spooledBytes, isClosed] = [Buffer.alloc(0), 0, 0, true];
    await file?.close();
  };
  return {
    close,
    async append(chunk) {
      budget.take(chunk.byteLength);
      buffer = grow(buffer, filled, chunk.byteLength);
      buffer.set(chunk, filled);
      filled += chunk.byteLength;
      const isLarge = file === undefined ? filled > memoryBytes || budget.isMemoryFull : filled > spoolBatchBytes;
      if (isLarge) await spool();
    },
    async finish() {
      if (file !== undefined) await spool();
      const size = filled + spooledBytes;
      return {
        size,
        close,
        open(start = 0, end = size) {
          if (isClosed) throw new Error('the body is closed');
          const last = Math.min(end, size);
          return file === undefined ? views(buffer, start, last) : readFileRange(file, start, last, encrypt);
        },
      };
    },
  };
}

function grow(buffer: Buffer<ArrayBuffer>, filled: number, added: number): Buffer<ArrayBuffer> {
  if (filled + added <= buffer.byteLength) return buffer;
  const larger = Buffer.allocUnsafeSlow(Math.max(filled + added, 2 * buffer.byteLength));
  larger.set(buffer.subarray(0, filled));
  return larger;
}

async function* views(buffer: Uint8Array, start: number, end: number): AsyncGenerator<Uint8Array> {
  for (let position = start; position < end; position += chunkBytes)
    yield buffer.subarray(position, Math.min(position + chunkBytes, end));
}

/**
 * Opens a temporary file and removes its name, so that no other process can open the file. The operating system deletes
 * the file when it is closed, even after a crash.
 */
async function openUnnamedFile(directory: string): Promise<FileHandle> {
  const path = join(directory, `identity-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
  } catch (error) {
    await file.close();
    throw error;
  }
  return file;
}

/** `position` is the position of the first byte in the file. */
type FileEncryption = (bytes: Uint8Array, position: number) => Uint8Array;

const BLOCK_BYTES = 16;

/**
 * Returns a function that encrypts and decrypts parts of a temporary file. Only this process has the key, so nobody can
 * read blocks of the deleted file that were recovered from the disk. The counter of the cipher is the position in the
 * file, so a reader can start anywhere. Each position is written only once, so the counter never repeats.
 */
function fileEncryption(): FileEncryption {
  const key = randomBytes(32);
  return (bytes, position) => {
    const counter = Buffer.alloc(BLOCK_BYTES);
    counter.writeBigUInt64BE(BigInt(Math.floor(position / BLOCK_BYTES)), 8);
    const cipher = createCipheriv('aes-256-ctr', key, counter);
    cipher.update(Buffer.alloc(position % BLOCK_BYTES));
    return cipher.update(bytes);
  };
}

async function* readFileRange(file: FileHandle, start: number, end: number, decrypt: FileEncryption) {
  const encrypted = Buffer.allocUnsafeSlow(Math.min(chunkBytes, Math.max(end - start, 0)));
  for (let position = start; position < end; ) {
    const { bytesRead } = await file.read(encrypted, 0, Math.min(encrypted.length, end - position), position);
    if (bytesRead === 0) throw new Error(`the spooled body ends at ${position} bytes instead of ${end}`);
    yield decrypt(encrypted.subarray(0, bytesRead), position);
    position += bytesRead;
  }
}

/** If the bodies in memory together exceed this size, further bodies are stored in temporary files. */
const MEMORY_BYTES = 64 * 1024 * 1024;

interface TakenBytes {
  memory: number;
  file: number;
}

/** Limits how many bytes the bodies of all requests occupy in memory and in temporary files. */
export class BodyBudget {
  private readonly limit: number;
  private readonly memoryLimit: number;
  private readonly readFreeBytes: (directory: string) => Promise<number>;
  private readonly taken: TakenBytes = { memory: 0, file: 0 };

  /**
   * @param limit the maximum number of bytes in memory and in temporary files; if it is infinite, the budget does not
   * check the free disk space
   */
  constructor(limit = Number.POSITIVE_INFINITY, memoryLimit = MEMORY_BYTES, readFreeBytes = freeBytes) {
    this.limit = limit;
    this.memoryLimit = memoryLimit;
    this.readFreeBytes = readFreeBytes;
  }

  get isMemoryFull(): boolean {
    return this.taken.memory > this.memoryLimit;
  }

  /** @throws IdentityError 429 if the bodies would exceed the limit */
  take(bytes: number): void {
    const { memory, file } = this.taken;
    if (memory + file + bytes > this.limit) throw tooManyBytes();
    this.taken.memory += bytes;
  }

  /**
   * Counts bytes as stored in memory, if the limits permit this.
   * @returns whether the limits permit the bytes
   */
  takeMemory(bytes: number): boolean {
    const { memory, file } = this.taken;
    const isFree = memory + bytes <= this.memoryLimit && memory + file + bytes <= this.limit;
    if (isFree) this.taken.memory += bytes;
    return isFree;
  }

  /**
   * Counts bytes as stored in a file instead of in memory. After this call, the caller must write the bytes to the
   * file.
   * @throws IdentityError 503 if the free disk space is smaller than all temporary files together
   */
  async moveToFile(bytes: number, directory: string): Promise<void> {
    // Count the bytes before waiting, because other bodies may be moved to files in the meantime.
    this.add({ memory: -bytes, file: bytes });
    if (!Number.isFinite(this.limit)) return;
    if (this.taken.file <= (await this.readFreeBytes(directory))) return;
    this.add({ memory: bytes, file: -bytes });
    throw temporarySpaceShort();
  }

  release({ memory, file }: TakenBytes): void {
    this.add({ memory: -memory, file: -file });
  }

  private add({ memory, file }: TakenBytes): void {
    this.taken.memory += memory;
    this.taken.file += file;
  }
}

async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
