import type { z } from 'zod';
import { partInvalid } from '../../../shared/errors/storageErrors.ts';
import { parseIfJson } from '../../../shared/json/parseIfJson.ts';
import type { ObjectLocation } from '../../../shared/objectStorage/objectStorage.ts';
import { manifestSchema } from '../../../shared/organisation/exportFile.ts';
import { isEqual, type PartEntry, type PartsDocument } from '../../../shared/organisation/partsDocument.ts';
import { MAX_DOCUMENT_BYTES } from '../../../shared/store/store.ts';

/** A part of an export, and its bytes. */
export interface ReadablePart {
  readonly entry: PartEntry;
  readonly location: Pick<ObjectLocation, 'bucket' | 'path'>;
  read(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

const HEAD = Buffer.from('{"orgs":[');
const MANIFEST = '],"manifest":';
const SEPARATOR = Buffer.from(',');

/**
 * Yields the parts of an export as one export file, with the manifest of the whole. A part is copied as bytes: parsing it
 * is the reader's matter.
 * @throws IdentityError naming the part that is not as the document says
 */
export async function* joinParts(
  { manifest }: Pick<PartsDocument, 'manifest'>,
  parts: readonly ReadablePart[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  yield HEAD;
  let isFirst = true;
  for (const part of parts) {
    for await (const [index, chunk] of numbered(organisations(part, signal))) {
      if (index === 0 && !isFirst) yield SEPARATOR;
      isFirst = false;
      yield chunk;
    }
  }
  yield Buffer.from(`${MANIFEST}${JSON.stringify(manifest)}}\n`);
}

async function* numbered(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<readonly [number, Uint8Array]> {
  let index = 0;
  for await (const chunk of chunks) if (chunk.length > 0) yield [index++, chunk];
}

/** Yields the bytes of a part's organisations. Its end, which may hold the manifest, is kept back until it is known. */
async function* organisations(part: ReadablePart, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const kept: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of withoutHead(part, signal)) {
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

async function* withoutHead({ read, location }: ReadablePart, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let head = Buffer.alloc(0);
  for await (const chunk of read(signal)) {
    if (head.length === HEAD.length) {
      yield chunk;
      continue;
    }
    const missing = HEAD.length - head.length;
    head = Buffer.concat([head, chunk.subarray(0, missing)]);
    if (chunk.length > missing) yield chunk.subarray(missing);
  }
  if (!head.equals(HEAD)) throw partInvalid(location, 'it does not begin as an export file');
}
