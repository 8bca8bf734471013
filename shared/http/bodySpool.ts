import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** A temporary file without a name: nobody else can open it, and it is gone when it is closed, however the process ends. */
export async function openNamelessFile(directory: string): Promise<FileHandle> {
  const path = join(directory, `identity-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
  } catch (fault) {
    await file.close();
    throw fault;
  }
  return file;
}

/** Reads the bytes from `start` up to `end` in chunks of `chunkBytes`, each a buffer of its own. */
export async function* readFileRange(file: FileHandle, start: number, end: number, chunkBytes: number) {
  for (let position = start; position < end; ) {
    const wanted = Math.min(chunkBytes, end - position);
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(wanted), 0, wanted, position);
    if (bytesRead === 0) throw new Error(`the spooled body ends at ${position} bytes instead of ${end}`);
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}
