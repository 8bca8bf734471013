import { readStart } from '../async.ts';
import { JsonError } from './jsonError.ts';

type Bytes = AsyncIterable<Uint8Array>;

type Utf16 = 'utf-16le' | 'utf-16be';

const START_BYTES = 4;

/**
 * Yields a JSON text without its byte order mark. Converts UTF-16 to UTF-8, and passes any other text on unchanged.
 * @throws JsonError if the text is in UTF-32, is invalid UTF-16, is encoded twice, or has two byte order marks
 */
export async function* utf8Text(content: Bytes): AsyncGenerator<Uint8Array> {
  const { start, rest } = await readStart(content, START_BYTES);
  if (isUtf32(start)) throw new JsonError([], 'the text is in UTF-32: convert it to UTF-8');
  const encoding = utf16Encoding(start);
  if (encoding === undefined && !hasMark(start)) return yield* rest;
  const decoded = await readStart(encoding === undefined ? withoutMark(rest) : fromUtf16(rest, encoding), START_BYTES);
  // Reject a text that is encoded twice, because other readers of JSON reject it. Without this check, this service
  // would accept such a text, because it decodes a request, and then decodes the file in the request.
  if (hasMark(decoded.start) || isUtf32(decoded.start) || utf16Encoding(decoded.start) !== undefined)
    throw new JsonError([], 'the text has two byte order marks, or is encoded twice: convert it to UTF-8');
  yield* decoded.rest;
}

function hasMark(start: Uint8Array): boolean {
  return start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf;
}

async function* withoutMark(content: Bytes): AsyncGenerator<Uint8Array> {
  let skipped = 3;
  for await (const chunk of content) {
    const kept = chunk.subarray(skipped);
    skipped -= chunk.length - kept.length;
    if (kept.length > 0) yield kept;
  }
}

/**
 * Decodes a small file, such as a list of ids or a token. Drops its byte order mark, because programs on Windows write
 * such marks.
 * @param charset the encoding of a text that neither has a byte order mark nor looks like UTF-16
 */
export function decodeText(content: Uint8Array, charset = 'utf-8'): string {
  return new TextDecoder(hasMark(content) ? 'utf-8' : (utf16Encoding(content) ?? charset)).decode(content);
}

/**
 * Returns, for each of the first four bytes, whether the byte is zero, such as `true,false,true,false`. The first two
 * characters of JSON are ASCII, so the zeros show whether the text is UTF-16 or UTF-32.
 */
function zerosIn(start: Uint8Array): string {
  return [0, 1, 2, 3].map((index) => start[index] === 0).join();
}

function isUtf32(start: Uint8Array): boolean {
  const hasLittleMark = start[0] === 0xff && start[1] === 0xfe && zerosIn(start) === 'false,false,true,true';
  const hasBigMark = start[2] === 0xfe && start[3] === 0xff && zerosIn(start) === 'true,true,false,false';
  return hasLittleMark || hasBigMark || ['false,true,true,true', 'true,true,true,false'].includes(zerosIn(start));
}

function utf16Encoding(start: Uint8Array): Utf16 | undefined {
  const [first, second] = start;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (zerosIn(start) === 'false,true,false,true') return 'utf-16le';
  return zerosIn(start) === 'true,false,true,false' ? 'utf-16be' : undefined;
}

async function* fromUtf16(content: Bytes, encoding: Utf16): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  try {
    for await (const chunk of content) yield Buffer.from(decoder.decode(chunk, { stream: true }));
    yield Buffer.from(decoder.decode());
  } catch (error) {
    throw error instanceof TypeError ? new JsonError([], 'the text is not valid UTF-16') : error;
  }
}
