import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { once, readStart } from '../async.ts';
import { QUOTE } from '../json/bytes.ts';
import { JsonError } from '../json/jsonError.ts';
import { JsonSplitter, type SplitValue } from '../json/splitter.ts';
import { stringContent } from '../json/stringContent.ts';
import { utf8Text } from '../json/utf8Text.ts';
import { exportFileLimits } from './manifest.ts';

/**
 * Some fields of an import request may contain an export file. This maps each spelling of such a field to its name in
 * snake_case.
 */
export const inlineFields: ReadonlyMap<string, string> = new Map([
  ['data_orgs', 'data_orgs'],
  ['dataOrgs', 'data_orgs'],
  ['data_orgsv1', 'data_orgsv1'],
  ['dataOrgsv1', 'data_orgsv1'],
]);

type Bytes = AsyncIterable<Uint8Array>;

export const EXPECTED_FILE = 'expected an export file: an object {"orgs":[…]}, or a string that contains one';

/**
 * Yields the JSON of an export file in UTF-8. The file may be compressed with gzip, in UTF-16, with a byte order mark,
 * or inside an import request.
 * @param checkSize receives the number of decompressed bytes so far, and throws if they are too many
 * @throws JsonError if the file is damaged
 */
export async function* exportFileJson(content: Bytes, checkSize: CheckSize = () => {}): AsyncGenerator<Uint8Array> {
  const { start, rest } = await readStart(utf8Text(decompressed(content, checkSize)), REQUEST_START_BYTES);
  yield* REQUEST_START.test(start.toString('latin1')) ? fileInRequest(rest) : rest;
}

/**
 * True if an export file is plain JSON: uncompressed, in UTF-8 without a byte order mark, and not inside an import
 * request. The size of such a file is also the size of its JSON.
 * @param start the first bytes of the file, at least 1,000 if the file is larger
 */
export async function isPlainJson(start: Uint8Array): Promise<boolean> {
  try {
    return Buffer.concat(await Array.fromAsync(exportFileJson(once(start)))).equals(start);
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}

type CheckSize = (bytes: number) => void;

const CHUNK_BYTES = 64 * 1024;

async function* decompressed(content: Bytes, checkSize: CheckSize): AsyncGenerator<Uint8Array> {
  const { start, rest } = await readStart(content, 2);
  if (start[0] !== 0x1f || start[1] !== 0x8b) return yield* rest;
  const decoder = createGunzip({ chunkSize: CHUNK_BYTES });
  // If `rest` fails, the pipeline destroys the decoder with the error, and the loop below throws this error.
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

/**
 * Matches the beginning of an import request. No object or list may precede the field that contains the export file.
 */
const REQUEST_START = /^\s*\{[^{[]*"(?:data_orgs|dataOrgs)(?:v1)?"\s*:/;
export const REQUEST_START_BYTES = 1_000;

async function* fileInRequest(request: Bytes): AsyncGenerator<Uint8Array> {
  const { start, rest } = await readStart(valueInRequest(request), 1);
  yield* start[0] === QUOTE ? stringContent(withoutQuotes(rest), []) : rest;
}

const OPTIONS =
  'the file is an import request with an option other than timeout: remove this field, and specify the option in the call';

/**
 * Yields the text of the export file in an import request, without checking the text.
 * @throws JsonError if the request contains no file, two files, or an option other than `timeout`
 */
async function* valueInRequest(request: Bytes): AsyncGenerator<Uint8Array> {
  const files: string[] = [];
  const splitter = new JsonSplitter((path, kind) => {
    const name = String(path[0]);
    if (path.length === 0) return 'enter';
    if (kind === 'scalar' || !inlineFields.has(name)) return 'keep';
    if (kind === 'array') throw new JsonError([...path], EXPECTED_FILE);
    if (files.push(name) > 1)
      throw new JsonError(
        [...path],
        `the import request contains another file in ${files[0]}: remove one of the two fields`,
      );
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
 * Returns true for the value that is the export file in an import request.
 * @throws JsonError if the value is an option other than `timeout`, or a scalar in place of the export file
 */
function isFile({ path, text, value }: SplitValue): boolean {
  if (text === '') return true;
  if (path[0] === 'timeout' || value === null) return false;
  throw new JsonError(path, inlineFields.has(String(path[0])) ? EXPECTED_FILE : OPTIONS);
}

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
