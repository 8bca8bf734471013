import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { createSerialQueue } from '../../shared/async.ts';
import { completeFile, moveFile } from '../../shared/durableFiles.ts';
import { systemCode } from '../../shared/systemCode.ts';
import { createDraft, type Draft } from './draft.ts';

/** The schema of an object's metadata file. */
const storedObject = z.object({
  bucket: z.string(),
  name: z.string(),
  generation: z.string(),
  size: z.number(),
  crc32c: z.string(),
  md5Hash: z.string(),
  contentType: z.string(),
  contentEncoding: z.string().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  timeCreated: z.string(),
});

/** An object's metadata. */
export type StoredObject = z.infer<typeof storedObject>;

/** The metadata that a client sends with an upload. */
export type ObjectDescription = Pick<StoredObject, 'bucket' | 'name' | 'contentType' | 'contentEncoding' | 'metadata'>;

/** A check that runs atomically with the replacement or removal of the present object, and throws to prevent it. */
export type Guard = (present: StoredObject | undefined) => void;

/** Objects in a directory. Each is a file of bytes and a file of metadata, which publishes the object. */
export interface ObjectFiles {
  draft(): Promise<Draft>;
  publish(draft: Draft, description: ObjectDescription, guard: Guard): Promise<StoredObject>;
  find(bucket: string, name: string): Promise<StoredObject | undefined>;
  list(bucket: string, prefix: string): Promise<StoredObject[]>;
  remove(bucket: string, name: string, guard: Guard): Promise<void>;
  /** Reads the bytes from `start` to `end`, both inclusive. */
  read(object: StoredObject, start: number, end: number): Readable;
}

/** Opens or creates a directory of objects, and drops the unfinished uploads of earlier processes. */
export async function openObjectFiles(directory: string): Promise<ObjectFiles> {
  const uploads = join(directory, 'uploads');
  await rm(uploads, { recursive: true, force: true });
  await mkdir(uploads, { recursive: true });
  const dataPath = ({ bucket, generation }: StoredObject) => join(directory, bucket, 'data', generation);
  const metadataPath = (bucket: string, name: string) => join(directory, bucket, 'objects', `${sha256(name)}.json`);
  const find = (bucket: string, name: string) => readMetadata(metadataPath(bucket, name));
  const enqueue = createSerialQueue();
  const nextGeneration = createClock();

  async function publish(draft: Draft, description: ObjectDescription, guard: Guard): Promise<StoredObject> {
    const present = await find(description.bucket, description.name);
    guard(present);
    const object = {
      ...description,
      ...draft.checksums(),
      size: draft.size(),
      generation: nextGeneration(present?.generation),
      timeCreated: new Date().toISOString(),
    };
    await moveFile(await draft.complete(), await inDirectory(dataPath(object)));
    const metadata = await inDirectory(metadataPath(object.bucket, object.name));
    await completeFile(metadata, JSON.stringify(object), 'replacing');
    if (present !== undefined) await rm(dataPath(present), { force: true });
    return object;
  }

  async function remove(bucket: string, name: string, guard: Guard): Promise<void> {
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
    list: (bucket, prefix) => listMetadata(join(directory, bucket, 'objects'), prefix),
    read: (object, start, end) => createReadStream(dataPath(object), { start, end, highWaterMark: 256 * 1024 }),
  };
}

// Object names can be longer than file names may be, and contain any character.
const sha256 = (name: string) => createHash('sha256').update(name).digest('hex');

async function readMetadata(path: string): Promise<StoredObject | undefined> {
  const text = await readFile(path, 'utf8').catch(undefinedIfMissing);
  return text === undefined ? undefined : storedObject.parse(JSON.parse(text));
}

async function listMetadata(directory: string, prefix: string): Promise<StoredObject[]> {
  const names = (await readdir(directory).catch(undefinedIfMissing)) ?? [];
  const files = names.filter((name) => name.endsWith('.json'));
  const all = await Promise.all(files.map((file) => readMetadata(join(directory, file))));
  const found = all.filter((object) => object !== undefined).filter(({ name }) => name.startsWith(prefix));
  return found.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
}

function undefinedIfMissing(error: unknown): undefined {
  if (systemCode(error) === 'ENOENT') return undefined;
  throw error;
}

/** Creates a file's directory, and returns the file. */
async function inDirectory(file: string): Promise<string> {
  await mkdir(dirname(file), { recursive: true });
  return file;
}

// Microseconds, as in Cloud Storage; always later than every earlier generation, those of earlier processes included.
function createClock(): (present: string | undefined) => string {
  let last = 0;
  return (present) => {
    last = Math.max(Date.now() * 1000, last + 1, Number(present ?? 0) + 1);
    return String(last);
  };
}
