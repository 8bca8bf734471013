import { prepend } from '../../../shared/async.ts';
import { objectNotFound, partMissing, partReplaced, partsInvalid } from '../../../shared/errors/storageErrors.ts';
import { objectUri } from '../../../shared/objectStorage/objectName.ts';
import type { ObjectLocation, ObjectStorage, PinnedObject } from '../../../shared/objectStorage/objectStorage.ts';
import {
  addUp,
  MAX_PARTS_BYTES,
  type PartsDocument,
  partsDocument,
} from '../../../shared/organisation/partsDocument.ts';
import { joinParts, type ReadablePart } from './joinedParts.ts';

/** Converts the bytes of an object before they are read, for example by decompression. */
type Decode = (name: string, bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/** An object that holds an export file, or names its parts. */
export interface ExportObject {
  readonly generation: string;
  /** The bytes of the object, or of all parts once they are known. */
  readonly size: number;
  /**
   * Reads the export file, in its parts' order if it has parts.
   * @param decode converts the bytes of each object
   */
  read(signal: AbortSignal, decode?: Decode): AsyncIterable<Uint8Array>;
}

/** The parts of an export, pinned to the generations that their document names. */
interface PinnedParts {
  readonly document: PartsDocument;
  readonly parts: readonly PinnedPart[];
  readonly size: number;
}

type PinnedPart = Pick<ReadablePart, 'entry' | 'location'> & { readonly object: PinnedObject };

/** The bytes that tell a parts document from an export file. White space before them is possible. */
const START_BYTES = 256;
const START = /^\s*\{\s*"parts"\s*:/;
const PINNED_AT_ONCE = 16;

/**
 * Pins the current generation of an object with an export file. If it turns out to be a document that names the parts of
 * an export, its first reading pins them too.
 * @throws IdentityError naming the object
 */
export async function pinExportObject(
  storage: ObjectStorage,
  location: ObjectLocation,
  signal: AbortSignal,
): Promise<ExportObject> {
  const object = await storage.pin(location, signal);
  let pinned: PinnedParts | undefined;
  async function* read(readSignal: AbortSignal, decode: Decode = (_, bytes) => bytes): AsyncGenerator<Uint8Array> {
    if (pinned === undefined) {
      const { start, rest } = await readStart(decode(objectUri(location), object.read(readSignal)));
      if (!START.test(start.toString())) return yield* rest;
      pinned = await pinParts(storage, location, await readDocument(location, rest), readSignal);
    }
    const parts = pinned.parts.map((part) => ({
      ...part,
      read: (partSignal: AbortSignal) => decode(objectUri(part.location), part.object.read(partSignal)),
    }));
    yield* joinParts(pinned.document, parts, readSignal);
  }
  return {
    generation: object.generation,
    get size() {
      return pinned?.size ?? object.size;
    },
    read,
  };
}

/** Reads enough bytes to recognise the content, and returns all bytes in `rest`. */
async function readStart(content: AsyncIterable<Uint8Array>) {
  const iterator = content[Symbol.asyncIterator]();
  let start = Buffer.alloc(0);
  while (start.length < START_BYTES) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    start = Buffer.concat([start, value]);
  }
  return { start: start.subarray(0, START_BYTES), rest: prepend(start, iterator) };
}

async function readDocument(location: ObjectLocation, content: AsyncIterable<Uint8Array>): Promise<PartsDocument> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > MAX_PARTS_BYTES) throw partsInvalid(location, `more than ${MAX_PARTS_BYTES} bytes`);
    chunks.push(chunk);
  }
  const document = parseDocument(location, Buffer.concat(chunks).toString());
  if (!addUp(document)) throw partsInvalid(location, 'the counts of the parts do not add up to those of the export');
  return document;
}

/**
 * Parses a parts document.
 * @throws IdentityError naming the object
 */
function parseDocument(location: ObjectLocation, text: string): PartsDocument {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw partsInvalid(location, 'malformed or incomplete JSON');
  }
  const { data, error } = partsDocument.safeParse(json);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  throw partsInvalid(location, `${issue?.path.join('.')}: ${issue?.message}`);
}

async function pinParts(
  storage: ObjectStorage,
  location: ObjectLocation,
  document: PartsDocument,
  signal: AbortSignal,
): Promise<PinnedParts> {
  const parts: PinnedPart[] = [];
  let size = 0;
  for (let start = 0; start < document.parts.length; start += PINNED_AT_ONCE) {
    const entries = document.parts.slice(start, start + PINNED_AT_ONCE);
    const batch = entries.map(async (entry) => {
      const at = { ...location, path: entry.path };
      const object = await pinPart(storage, location, at, signal);
      const { generation } = object;
      if (generation !== entry.generation) throw partReplaced(at, location, generation, entry.generation);
      size += object.size;
      return { entry, location: at, object };
    });
    parts.push(...(await Promise.all(batch)));
  }
  return { document, parts, size };
}

async function pinPart(
  storage: ObjectStorage,
  document: ObjectLocation,
  at: ObjectLocation,
  signal: AbortSignal,
): Promise<PinnedObject> {
  try {
    return await storage.pin(at, signal);
  } catch (error) {
    throw objectNotFound.is(error) ? partMissing(at, document) : error;
  }
}
