import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

const spoolBatchBytes = 256 * 1024;
const maxWriteBufferBytes = 4 * spoolBatchBytes;
/** Readers keep many objects per chunk alive: larger chunks cost memory and save no time. */
const chunkBytes = 64 * 1024;

/** A completely received request body. */
export interface ReceivedBody {
  /** In bytes. */
  readonly size: number;
  /**
   * Reads the bytes from `start` up to `end` (default: all). Several reads, also concurrent ones, are allowed.
   * A chunk is at most 64 KiB and may be a view of the stored body: do not modify it.
   */
  open(start?: number, end?: number): AsyncIterable<Uint8Array>;
  /** Frees the body's memory or its file. */
  close(): Promise<void>;
}

/** A body's storage while it is received: in memory up to `memoryBytes`, in an unnamed temporary file above. */
export interface BodyStorage {
  append(chunk: Uint8Array): Promise<void>;
  /** Returns the body. Do not append to it afterwards. */
  finish(): Promise<ReceivedBody>;
  /** Frees an incomplete body. */
  discard(): Promise<void>;
}

/** Creates an empty storage; a temporary file, if needed, is created in `directory`. */
export function createBodyStorage(memoryBytes: number, directory: string): BodyStorage {
  // Chunks are copied into one buffer: a client that sends single bytes would otherwise cost an object for each.
  let buffer = Buffer.alloc(0);
  let filled = 0;
  let spooledBytes = 0;
  let file: FileHandle | undefined;
  const spool = async () => {
    file ??= await openUnnamedFile(directory);
    await file.writeFile(buffer.subarray(0, filled));
    spooledBytes += filled;
    filled = 0;
    if (buffer.byteLength > maxWriteBufferBytes) buffer = Buffer.alloc(0);
  };
  return {
    async append(chunk) {
      buffer = grow(buffer, filled, chunk.byteLength);
      buffer.set(chunk, filled);
      filled += chunk.byteLength;
      if (filled > (file === undefined ? memoryBytes : spoolBatchBytes)) await spool();
    },
    async finish() {
      if (file === undefined) return bodyInMemory(buffer.subarray(0, filled));
      await spool();
      return bodyInFile(file, spooledBytes);
    },
    async discard() {
      await file?.close();
    },
  };
}

function grow(buffer: Buffer<ArrayBuffer>, filled: number, added: number): Buffer<ArrayBuffer> {
  if (filled + added <= buffer.byteLength) return buffer;
  const larger = Buffer.allocUnsafeSlow(Math.max(filled + added, 2 * buffer.byteLength));
  larger.set(buffer.subarray(0, filled));
  return larger;
}

function bodyInMemory(bytes: Uint8Array): ReceivedBody {
  let kept: Uint8Array | undefined = bytes;
  return {
    size: bytes.byteLength,
    async *open(start = 0, end = bytes.byteLength) {
      if (kept === undefined) throw new Error('the body is closed');
      const last = Math.min(end, kept.byteLength);
      for (let position = start; position < last; position += chunkBytes) {
        yield kept.subarray(position, Math.min(position + chunkBytes, last));
      }
    },
    async close() {
      kept = undefined;
    },
  };
}

function bodyInFile(file: FileHandle, size: number): ReceivedBody {
  return {
    size,
    open: (start = 0, end = size) => readFileRange(file, start, Math.min(end, size), chunkBytes),
    close: () => file.close(),
  };
}

/** Opens a temporary file and removes its name: no other process can open it, and closing deletes it, even after a crash. */
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

/** Reads the bytes from `start` up to `end` in chunks of `chunkBytes`, each in its own buffer. */
export async function* readFileRange(file: FileHandle, start: number, end: number, chunkBytes: number) {
  for (let position = start; position < end; ) {
    const wanted = Math.min(chunkBytes, end - position);
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(wanted), 0, wanted, position);
    if (bytesRead === 0) throw new Error(`the spooled body ends at ${position} bytes instead of ${end}`);
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}
