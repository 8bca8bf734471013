// Brings an export file in any of its accepted forms to plain JSON.

import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { prepend } from '../async.ts';
import { QUOTE } from '../json/bytes.ts';
import { JsonError, type JsonPath, JsonScanner, type ScannedValue, type Treatment } from '../json/jsonScanner.ts';
import { stringContent } from '../json/jsonText.ts';
import type { ValueKind } from '../json/valueScanner.ts';
import { fixedLimits } from '../limits.ts';
import { FileStart, recogniseForeign, START_BYTES } from './foreignFile.ts';

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

/** Each import request around a file is read as a whole, so their number is limited. */
const MAX_REQUESTS = 2;

/**
 * Yields an export file's JSON in UTF-8, whichever form it is stored in: compressed with gzip, in UTF-16, with a byte
 * order mark, or inside an import request, even a nested one.
 * @param checkSize takes the number of decompressed bytes so far, and may throw
 * @throws JsonError for a damaged file; ForeignFileError for a file of another kind
 */
export function exportFileJson(content: Bytes, checkSize: CheckSize = () => {}): AsyncGenerator<Uint8Array> {
  return withoutRequests(decompressed(content, checkSize), MAX_REQUESTS);
}

async function* withoutRequests(content: Bytes, maxRequests: number): AsyncGenerator<Uint8Array> {
  const text = utf8Text(content);
  const { start, isRequest } = await readBeginning(text).catch(async (error: unknown) => {
    await text.return(undefined);
    throw error;
  });
  const whole = prepend(start, text);
  yield* isRequest && maxRequests > 0 ? withoutRequests(fileInRequest(whole), maxRequests - 1) : whole;
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

interface Beginning {
  /** What was read. */
  readonly start: Uint8Array;
  readonly isRequest: boolean;
}

const SCANNED_BYTES = 4_096;

/**
 * Reads the beginning of a file until it shows the kind of the file.
 * @throws ForeignFileError
 */
async function readBeginning(text: AsyncIterator<Uint8Array>): Promise<Beginning> {
  const seen = new FileStart();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  let isOpen = true;
  while (isOpen && bytes < START_BYTES) {
    const { done, value } = await text.next();
    if (done === true) break;
    pieces.push(value);
    bytes += value.length;
    for (let at = 0; isOpen && at < value.length; at += SCANNED_BYTES) {
      isOpen = seen.add(value.subarray(at, at + SCANNED_BYTES));
      const deciding = [...seen.paths].find((path) => path === 'orgs' || inlineFields.has(path));
      if (deciding !== undefined) return { start: Buffer.concat(pieces), isRequest: deciding !== 'orgs' };
    }
  }
  const foreign = recogniseForeign(seen);
  if (foreign !== undefined) throw foreign;
  return { start: Buffer.concat(pieces), isRequest: false };
}

/** Yields the export file inside an import request. */
async function* fileInRequest(request: Bytes): AsyncGenerator<Uint8Array> {
  const { start, rest } = await readStart(valueInRequest(request), 1);
  yield* start[0] === QUOTE ? stringContent(withoutQuotes(rest)) : rest;
}

/**
 * Yields the text of a request's only export file.
 * @throws JsonError for a request with options, which only the caller sets
 */
async function* valueInRequest(request: Bytes): AsyncGenerator<Uint8Array> {
  const scan = new RequestScan();
  let offset = 0;
  for await (const chunk of request) {
    const found = scan.push(chunk);
    if (found !== undefined) yield chunk.subarray(Math.max(0, found.start - offset), Math.max(0, found.end - offset));
    offset += chunk.length;
    scan.throwIfFailed();
  }
  scan.end();
}

const OPTIONS =
  'an import request in place of a file may have timeout only; remove this field, and give options in the call';

/** Finds the export file in a request that arrives in chunks. */
class RequestScan {
  private readonly found: string[] = [];
  private running: ValueKind | undefined;
  private hasFile = false;
  private failure: JsonError | undefined;
  private readonly scanner = new JsonScanner((path, kind) => this.treat(path, kind), {
    valueBytes: START_BYTES,
    fields: fixedLimits.fields,
  });

  /** Returns the file's range as far as it is valid; the end of an object may be unknown, or invalid. */
  push(chunk: Uint8Array): Pick<ScannedValue, 'start' | 'end'> | undefined {
    try {
      const [file] = this.scanner.push(chunk).filter(isFile);
      if (file !== undefined) {
        this.running = undefined;
        this.hasFile = true;
        return file;
      }
    } catch (error) {
      // The file's reader names the place in it.
      if (!(error instanceof JsonError) || this.running !== 'object') throw error;
      this.failure = error;
    }
    const start = this.running === undefined ? undefined : this.scanner.valueStart;
    return start === undefined ? undefined : { start, end: Number.POSITIVE_INFINITY };
  }

  /** @throws JsonError if the last pushed bytes are invalid */
  throwIfFailed(): void {
    if (this.failure !== undefined) throw this.failure;
  }

  /** @throws JsonError if the request is incomplete, or has no file */
  end(): void {
    this.scanner.end();
    if (!this.hasFile) throw new JsonError([], 'the import request has no export file: its data fields are null');
  }

  private treat(path: JsonPath, kind: ValueKind): Treatment {
    if (path.length === 0) return 'enter';
    const name = String(path[0]);
    if (!inlineFields.has(name) || kind === 'scalar') return 'glance';
    this.found.push(name);
    const [first] = this.found;
    if (first !== name) throw new JsonError([...path], `a second file beside ${first}: remove one of them`);
    this.running = kind;
    return 'skip';
  }
}

/**
 * Whether a value of a request is its export file.
 * @throws JsonError for an option, which only the call may set, and for a file that is none
 */
function isFile({ path, kind, text }: ScannedValue): boolean {
  const isInline = inlineFields.has(String(path[0]));
  if (isInline && (kind === 'object' || kind === 'string')) return true;
  if (path[0] === 'timeout' || text === 'null') return false;
  throw new JsonError(path, isInline ? EXPECTED_FILE : OPTIONS);
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
