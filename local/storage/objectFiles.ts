import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { CRC32C } from '@google-cloud/storage';
import { z } from 'zod';
import { createSerialQueue } from '../../shared/async.ts';
import { moveFile, replaceFile } from '../../shared/durableFiles.ts';
import { invalid } from './googleError.ts';
import { readIfExists } from './serviceAccountKey.ts';

const storedObject = z.object({
  bucket: z.string(),
  name: z.string(),
  generation: z.string(),
  size: z.number(),
  crc32c: z.string(),
  contentType: z.string(),
  contentEncoding: z.string().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  timeCreated: z.string(),
});

export type StoredObject = z.infer<typeof storedObject>;

export type ObjectDescription = Pick<StoredObject, 'bucket' | 'name' | 'contentType' | 'contentEncoding' | 'metadata'>;

/**
 * Called with the current object before the object is replaced or removed. Throws an error if the object must not
 * change. The call and the change are one atomic operation.
 */
export type ObjectPrecondition = (present: StoredObject | undefined) => void;

/**
 * Objects in a directory. Each object has two files: its bytes and its metadata. The object exists once the metadata
 * file exists.
 */
export interface ObjectFiles {
  draft(): Promise<Draft>;
  publish(draft: Draft, description: ObjectDescription, guard: ObjectPrecondition): Promise<StoredObject>;
  find(bucket: string, name: string): Promise<StoredObject | undefined>;
  remove(bucket: string, name: string, guard: ObjectPrecondition): Promise<void>;
  /** Reads the bytes from `start` to `end`, both inclusive. */
  read(object: StoredObject, start: number, end: number): Readable;
}

/** Opens or creates a directory of objects, and deletes the unfinished uploads of earlier processes. */
export async function openObjectFiles(directory: string): Promise<ObjectFiles> {
  const uploads = join(directory, 'uploads');
  await rm(uploads, { recursive: true, force: true });
  await mkdir(uploads, { recursive: true });
  const dataPath = ({ bucket, generation }: StoredObject) => join(directory, bucket, 'data', generation);
  const metadataPath = (bucket: string, name: string) => join(directory, bucket, 'objects', `${sha256(name)}.json`);
  const find = (bucket: string, name: string) => readMetadata(metadataPath(bucket, name));
  const enqueue = createSerialQueue();
  const nextGeneration = createClock();

  async function publish(
    draft: Draft,
    description: ObjectDescription,
    guard: ObjectPrecondition,
  ): Promise<StoredObject> {
    const present = await find(description.bucket, description.name);
    guard(present);
    const object = {
      ...description,
      crc32c: draft.crc32c(),
      size: draft.size(),
      generation: nextGeneration(present?.generation),
      timeCreated: new Date().toISOString(),
    };
    await moveFile(await draft.complete(), await inDirectory(dataPath(object)));
    const metadata = await inDirectory(metadataPath(object.bucket, object.name));
    await replaceFile(metadata, JSON.stringify(object));
    if (present !== undefined) await rm(dataPath(present), { force: true });
    return object;
  }

  async function remove(bucket: string, name: string, guard: ObjectPrecondition): Promise<void> {
    const present = await find(bucket, name);
    guard(present);
    if (present === undefined) return;
    await rm(metadataPath(bucket, name));
    await rm(dataPath(present), { force: true });
  }

  return {
    draft: () => createDraft(uploads),
    publish: (draft, description, guard) => enqueue(() => publish(draft, description, guard)),
    remove: (bucket, name, guard) => enqueue(() => remove(bucket, name, guard)),
    find,
    read: (object, start, end) => createReadStream(dataPath(object), { start, end, highWaterMark: 256 * 1024 }),
  };
}

// The file name is a digest of the object's name. The name itself can be longer than a file name, and can contain any
// character.
const sha256 = (name: string) => createHash('sha256').update(name).digest('hex');

async function readMetadata(path: string): Promise<StoredObject | undefined> {
  const text = await readIfExists(path);
  return text === undefined ? undefined : storedObject.parse(JSON.parse(text));
}

async function inDirectory(file: string): Promise<string> {
  await mkdir(dirname(file), { recursive: true });
  return file;
}

// Returns a function that generates object generations: numbers that always increase, in microseconds as in Cloud
// Storage. Called with the generation of the current object, which an earlier process may have created, the function
// returns a greater generation.
function createClock(): (present: string | undefined) => string {
  let last = 0;
  return (present) => {
    last = Math.max(Date.now() * 1000, last + 1, Number(present ?? 0) + 1);
    return String(last);
  };
}

export interface Draft {
  readonly size: () => number;
  readonly crc32c: () => string;
  /**
   * Appends the bytes of the source. If the source fails, keeps all complete units of 256 KiB, as Cloud Storage does.
   */
  append(source: AsyncIterable<Buffer>): Promise<void>;
  /** Makes the bytes durable, and returns the path of their file. */
  complete(): Promise<string>;
  discard(): Promise<void>;
}

/**
 * The size of the units in which Cloud Storage keeps the bytes of an unfinished upload. Each chunk that a client sends,
 * except the last, consists of whole units.
 */
export const unitBytes = 256 * 1024;

async function createDraft(directory: string): Promise<Draft> {
  const path = join(directory, randomUUID());
  const file = await open(path, 'wx', 0o600);
  const crc32c = new CRC32C();
  let size = 0;
  return {
    size: () => size,
    crc32c: () => crc32c.toString(),
    async append(source) {
      for await (const bytes of inUnits(source)) {
        await file.writeFile(bytes);
        crc32c.update(bytes);
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

export function compareChecksum(expected: string | undefined, actual: string): void {
  if (expected !== undefined && expected !== actual)
    throw invalid(`Provided CRC32C "${expected}" doesn't match calculated CRC32C "${actual}".`);
}
