// Brings an export file in any of its accepted forms to plain JSON.

import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { prepend } from '../async.ts';
import { QUOTE } from '../json/bytes.ts';
import { JsonError } from '../json/jsonError.ts';
import { JsonSplitter, type SplitValue } from '../json/splitter.ts';
import { stringContent } from '../json/stringContent.ts';
import { exportFileLimits } from './manifest.ts';

/** Fields of an import request that hold an export file, by their snake_case and camelCase spellings. */
export const inlineFields: ReadonlyMap<string, string> = new Map([
  ['data_orgs', 'data_orgs'],
  ['dataOrgs', 'data_orgs'],
  ['data_orgsv1', 'data_orgsv1'],
  ['dataOrgsv1', 'data_orgsv1'],
]);

type Bytes = AsyncIterable<Uint8Array>;

/** The problem of a request's field that contains no file. */
export const EXPECTED_FILE = 'expected an export file: an object {"orgs":[…]}, or a string that contains one';

/**
 * Yields an export file's JSON in UTF-8, whichever form it is stored in: compressed with gzip, in UTF-16, with a byte
 * order mark, or inside an import request.
 * @param checkSize takes the number of decompressed bytes so far, and may throw
 * @throws JsonError for a damaged file
 */
export async function* exportFileJson(content: Bytes, checkSize: CheckSize = () => {}): AsyncGenerator<Uint8Array> {
  const { start, rest } = await readStart(utf8Text(decompressed(content, checkSize)), REQUEST_START_BYTES);
  yield* REQUEST_START.test(start.toString('latin1')) ? fileInRequest(rest) : rest;
}

type CheckSize = (bytes: number) => void;

const CHUNK_BYTES = 64 * 1024;

async function* decompressed(content: Bytes, checkSize: CheckSize): AsyncGenerator<Uint8Array> {
  const { start, rest } = await readStart(content, 2);
  if (start[0] !== 0x1f || start[1] !== 0x8b) return yield* rest;
  const decoder = createGunzip({ chunkSize: CHUNK_BYTES });
  // A failure of the content destroys the decoder with its error, which the iteration then throws.
  pipeline(Readable.from(rest, { objectMode: false }), decoder, () => undefined);
  let bytes = 0;
  try {
    for await (const chunk of decoder) {
      bytes += chunk.length;
      checkSize(bytes);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^Z_/.test(String(error.code)))
      throw new JsonError([], `the file's compression is damaged or incomplete (${error.message})`);
    throw error;
  }
}

type Utf16 = 'utf-16le' | 'utf-16be';

/** Removes the byte order mark, and converts UTF-16. */
async function* utf8Text(content: Bytes): AsyncGenerator<Uint8Array> {
  const { start, rest } = await readStart(content, 4);
  const encoding = utf16Encoding(start);
  if (encoding !== undefined) return yield* fromUtf16(rest, encoding);
  const hasMark = start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf;
  let skipped = hasMark ? 3 : 0;
  for await (const chunk of rest) {
    const content = chunk.subarray(skipped);
    skipped -= chunk.length - content.length;
    if (content.length > 0) yield content;
  }
}

/** Recognises UTF-16 by its mark, or by the zeros beside the first two characters, which are ASCII in JSON. */
function utf16Encoding([first, second, third, fourth]: Uint8Array): Utf16 | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const hasZeros = [first, second, third, fourth].map((byte) => byte === 0).join();
  if (hasZeros === 'false,true,false,true') return 'utf-16le';
  return hasZeros === 'true,false,true,false' ? 'utf-16be' : undefined;
}

async function* fromUtf16(content: Bytes, encoding: Utf16): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  try {
    for await (const chunk of content) yield Buffer.from(decoder.decode(chunk, { stream: true }));
    yield Buffer.from(decoder.decode());
  } catch (error) {
    throw error instanceof TypeError ? new JsonError([], 'the file is not valid UTF-16') : error;
  }
}

/** The beginning of an import request: no field with an object or a list precedes its file. */
const REQUEST_START = /^\s*\{[^{[]*"(?:data_orgs|dataOrgs)(?:v1)?"\s*:/;
const REQUEST_START_BYTES = 1_000;

/** Yields the export file inside an import request. */
async function* fileInRequest(request: Bytes): AsyncGenerator<Uint8Array> {
  const { start, rest } = await readStart(valueInRequest(request), 1);
  yield* start[0] === QUOTE ? stringContent(withoutQuotes(rest), []) : rest;
}

const OPTIONS =
  'an import request in place of a file may have timeout only; remove this field, and give options in the call';

/**
 * Yields the text of a request's only export file, which is not checked.
 * @throws JsonError for a request with options, which only the caller sets
 */
async function* valueInRequest(request: Bytes): AsyncGenerator<Uint8Array> {
  const files: string[] = [];
  const splitter = new JsonSplitter((path, kind) => {
    const name = String(path[0]);
    if (path.length === 0) return 'enter';
    if (kind === 'scalar' || !inlineFields.has(name)) return 'keep';
    if (kind === 'array') throw new JsonError([...path], EXPECTED_FILE);
    if (files.push(name) > 1) throw new JsonError([...path], `a second file besides ${files[0]}: remove one of them`);
    return 'skip';
  }, exportFileLimits);
  let offset = 0;
  for await (const chunk of request) {
    const [file] = splitter.push(chunk).filter(isFile);
    const { start, end = Number.POSITIVE_INFINITY } = file ?? { start: splitter.skippedStart };
    if (start !== undefined) yield chunk.subarray(Math.max(0, start - offset), end - offset);
    offset += chunk.length;
  }
  splitter.end();
  if (files.length === 0) throw new JsonError([], 'the import request has no export file: its data fields are null');
}

/**
 * Whether a value of a request is its export file.
 * @throws JsonError for an option, which only the call may set, and for a scalar in place of the file
 */
function isFile({ path, text, value }: SplitValue): boolean {
  if (text === '') return true;
  if (path[0] === 'timeout' || value === null) return false;
  throw new JsonError(path, inlineFields.has(String(path[0])) ? EXPECTED_FILE : OPTIONS);
}

/** Yields the bytes between the first and the last one. */
async function* withoutQuotes(text: Bytes): AsyncGenerator<Uint8Array> {
  let last: Uint8Array = Buffer.alloc(0);
  let first = 1;
  for await (const chunk of text) {
    if (chunk.length === 0) continue;
    if (last.length > 0) yield last;
    yield chunk.subarray(first, -1);
    last = chunk.length > first ? chunk.subarray(-1) : Buffer.alloc(0);
    first = 0;
  }
}

/**
 * Reads the first bytes of some content.
 * @returns at least `length` bytes unless the content is shorter, and all bytes in `rest`
 */
async function readStart(
  content: Bytes,
  length: number,
): Promise<{ readonly start: Buffer; readonly rest: AsyncGenerator<Uint8Array> }> {
  const iterator = content[Symbol.asyncIterator]();
  let start: Buffer = Buffer.alloc(0);
  while (start.length < length) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    start = Buffer.concat([start, value]);
  }
  return { start, rest: prepend(start, iterator) };
}
