import type { z } from 'zod';
import { readStart } from '../../../shared/async.ts';
import {
  objectNotFound,
  partInvalid,
  partMissing,
  partReplaced,
  partsInvalid,
} from '../../../shared/errors/storageErrors.ts';
import { parseIfJson } from '../../../shared/json/jsonObject.ts';
import { objectUri } from '../../../shared/objectStorage/objectName.ts';
import type { ObjectLocation, ObjectStorage, PinnedObject } from '../../../shared/objectStorage/objectStorage.ts';
import { manifestSchema } from '../../../shared/organisation/exportFile.ts';
import {
  addUp,
  isEqual,
  MAX_PARTS_BYTES,
  type PartEntry,
  type PartsDocument,
  partsDocument,
} from '../../../shared/organisation/partsDocument.ts';
import { MAX_DOCUMENT_BYTES } from '../../../shared/store/store.ts';

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

interface PinnedPart {
  readonly entry: PartEntry;
  readonly location: ObjectLocation;
  readonly object: PinnedObject;
}

type ReadPart = (part: PinnedPart) => AsyncIterable<Uint8Array>;

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
      const { start, rest } = await readStart(decode(objectUri(location), object.read(readSignal)), START_BYTES);
      if (!START.test(start.toString('utf8', 0, START_BYTES))) return yield* rest;
      pinned = await pinParts(storage, location, await readDocument(location, rest), readSignal);
    }
    yield* joinParts(pinned, (part) => decode(objectUri(part.location), part.object.read(readSignal)));
  }
  return {
    generation: object.generation,
    get size() {
      return pinned?.size ?? object.size;
    },
    read,
  };
}

async function readDocument(location: ObjectLocation, content: AsyncIterable<Uint8Array>): Promise<PartsDocument> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > MAX_PARTS_BYTES) throw partsInvalid(location, `more than ${MAX_PARTS_BYTES} bytes`);
    chunks.push(chunk);
  }
  const json = parseIfJson(Buffer.concat(chunks).toString());
  if (json === undefined) throw partsInvalid(location, 'malformed or incomplete JSON');
  const { data: document, error } = partsDocument.safeParse(json);
  const [issue] = error?.issues ?? [];
  if (document === undefined) throw partsInvalid(location, `${issue?.path.join('.')}: ${issue?.message}`);
  if (!addUp(document)) throw partsInvalid(location, 'the counts of the parts do not add up to those of the export');
  return document;
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

const HEAD = Buffer.from('{"orgs":[');
const MANIFEST = '],"manifest":';
const SEPARATOR = Buffer.from(',');

/**
 * Yields the parts of an export as one export file, with the manifest of the whole. A part is copied as bytes: parsing it
 * is the reader's matter.
 * @throws IdentityError naming the part that is not as the document says
 */
async function* joinParts({ document, parts }: PinnedParts, read: ReadPart): AsyncGenerator<Uint8Array> {
  yield HEAD;
  let isFirst = true;
  for (const part of parts) {
    let isStart = true;
    for await (const chunk of organisations(part, read)) {
      if (chunk.length === 0) continue;
      if (isStart && !isFirst) yield SEPARATOR;
      isStart = false;
      isFirst = false;
      yield chunk;
    }
  }
  yield Buffer.from(`${MANIFEST}${JSON.stringify(document.manifest)}}\n`);
}

/** Yields the bytes of a part's organisations. Its end, which may hold the manifest, is kept back until it is known. */
async function* organisations(part: PinnedPart, read: ReadPart): AsyncGenerator<Uint8Array> {
  const kept: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of withoutHead(part, read)) {
    kept.push(chunk);
    bytes += chunk.length;
    while (bytes - (kept[0]?.length ?? 0) >= MAX_DOCUMENT_BYTES) {
      const [first] = kept.splice(0, 1);
      if (first === undefined) break;
      bytes -= first.length;
      yield first;
    }
  }
  const end = Buffer.concat(kept);
  const found = findManifest(end, manifestSchema);
  if (found === undefined) throw partInvalid(part.location, 'it ends before the end of its manifest');
  if (!isEqual(found.manifest, part.entry.manifest)) throw partInvalid(part.location, 'its manifest is another one');
  yield end.subarray(0, found.at);
}

/**
 * Finds the manifest in the last bytes of an export file that an export has written.
 * @returns the manifest, and where the list of organisations ends; undefined if there is none
 */
export function findManifest<Found>(
  end: Buffer,
  schema: z.ZodType<Found>,
): { readonly manifest: Found; readonly at: number } | undefined {
  // Quotes in texts are escaped, and no manifest has a field of this name.
  const at = end.lastIndexOf(MANIFEST);
  const text = end.subarray(at + MANIFEST.length).toString();
  const { data } = at < 0 ? {} : schema.safeParse(parseIfJson(text.replace(/\}\n$/, '')));
  return data === undefined ? undefined : { manifest: data, at };
}

async function* withoutHead(part: PinnedPart, read: ReadPart): AsyncGenerator<Uint8Array> {
  let head = Buffer.alloc(0);
  for await (const chunk of read(part)) {
    const missing = HEAD.length - head.length;
    if (missing > 0) head = Buffer.concat([head, chunk.subarray(0, missing)]);
    yield chunk.subarray(missing);
  }
  if (!head.equals(HEAD)) throw partInvalid(part.location, 'it does not begin as an export file');
}
