import { createHash, randomUUID } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CRC32C } from '@google-cloud/storage';
import { invalid } from './googleError.ts';

/** The bytes of an unfinished upload. */
export interface Draft {
  readonly size: () => number;
  readonly checksums: () => Checksums;
  /** Appends bytes as they arrive. If the source fails, the complete units of 256 KiB stay, as in Cloud Storage. */
  append(source: AsyncIterable<Buffer>): Promise<void>;
  /** Makes the bytes durable, and returns their file's path. */
  complete(): Promise<string>;
  discard(): Promise<void>;
}

/** The unit of unfinished uploads: chunks are multiples of it. */
export const unitBytes = 256 * 1024;

/** Creates an empty draft in a file of its own. */
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
    if (length < unitBytes) continue;
    const bytes = Buffer.concat(pieces);
    const rest = bytes.subarray(length - (length % unitBytes));
    yield bytes.subarray(0, length - rest.length);
    pieces = [rest];
    length = rest.length;
  }
  if (length > 0) yield Buffer.concat(pieces);
}

/** An object's checksums, in base64, under the names of the API. */
export interface Checksums {
  readonly crc32c: string;
  readonly md5Hash: string;
}

/** A running computation of both checksums. */
interface Checksummer {
  update(bytes: Buffer): void;
  /** Returns the checksums of all bytes so far. */
  current(): Checksums;
}

function createChecksummer(): Checksummer {
  const crc32c = new CRC32C();
  const md5 = createHash('md5');
  return {
    update(bytes) {
      crc32c.update(bytes);
      md5.update(bytes);
    },
    current: () => ({ crc32c: crc32c.toString(), md5Hash: md5.copy().digest('base64') }),
  };
}

/**
 * Compares the client's checksums with those of the received bytes.
 * @throws GoogleError 400 on a mismatch
 */
export function compareChecksums(expected: Partial<Checksums>, actual: Checksums): void {
  if (expected.crc32c !== undefined && expected.crc32c !== actual.crc32c)
    throw invalid(`Provided CRC32C "${expected.crc32c}" doesn't match calculated CRC32C "${actual.crc32c}".`);
  if (expected.md5Hash !== undefined && expected.md5Hash !== actual.md5Hash)
    throw invalid(`Provided MD5 hash "${expected.md5Hash}" doesn't match calculated MD5 hash "${actual.md5Hash}".`);
}

/** Parses the checksums in an `x-goog-hash` header: `crc32c=…,md5=…`. */
export function parseHashHeader(header: string | undefined): Partial<Checksums> {
  const pairs = (header ?? '').split(',').map((pair) => pair.trim());
  const value = (name: string) => pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
  const [crc32c, md5Hash] = [value('crc32c'), value('md5')];
  return { ...(crc32c === undefined ? {} : { crc32c }), ...(md5Hash === undefined ? {} : { md5Hash }) };
}
