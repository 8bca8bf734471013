import { readStart } from '../async.ts';
import { JsonError } from './jsonError.ts';

type Bytes = AsyncIterable<Uint8Array>;

type Utf16 = 'utf-16le' | 'utf-16be';

/**
 * Yields a JSON text in UTF-8 without byte order mark: converts UTF-16, and passes all other content on as it is.
 * @throws JsonError for invalid UTF-16
 */
export async function* utf8Text(content: Bytes): AsyncGenerator<Uint8Array> {
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

/** Decodes a text in UTF-8 or UTF-16, without byte order mark, as Windows stores lists and tokens. */
export function decodeText(content: Uint8Array): string {
  return new TextDecoder(utf16Encoding(content)).decode(content);
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
    throw error instanceof TypeError ? new JsonError([], 'the text is not valid UTF-16') : error;
  }
}
