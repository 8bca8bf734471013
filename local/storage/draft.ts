import { randomUUID } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Checksums, createChecksummer } from './checksum.ts';

/** Bytes that are on their way to becoming an object. */
export interface Draft {
  readonly size: () => number;
  readonly checksums: () => Checksums;
  /** Adds bytes as they come. When the source fails, the whole units of 256 KiB that came before stay, as at Google's. */
  append(source: AsyncIterable<Buffer>): Promise<void>;
  /** Makes the bytes durable, and gives the file that holds them. */
  complete(): Promise<string>;
  discard(): Promise<void>;
}

/** Uploads are kept in multiples of this many bytes. */
export const unit = 256 * 1024;

/** An empty draft in a file of its own. */
export async function createDraft(directory: string): Promise<Draft> {
  const path = join(directory, randomUUID());
  const file = await open(path, 'wx', 0o600);
  const checksummer = createChecksummer();
  let size = 0;
  return {
    size: () => size,
    checksums: () => checksummer.current(),
    async append(source) {
      for await (const bytes of inUnits(source)) {
        await file.writeFile(bytes);
        checksummer.update(bytes);
        size += bytes.length;
      }
    },
    async complete() {
      await file.sync();
      await file.close();
      return path;
    },
    async discard() {
      await file.close();
      await rm(path, { force: true });
    },
  };
}

async function* inUnits(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  let pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of source) {
    pieces.push(piece);
    length += piece.length;
    if (length < unit) continue;
    const bytes = Buffer.concat(pieces);
    const rest = bytes.subarray(length - (length % unit));
    yield bytes.subarray(0, length - rest.length);
    pieces = [rest];
    length = rest.length;
  }
  if (length > 0) yield Buffer.concat(pieces);
}
