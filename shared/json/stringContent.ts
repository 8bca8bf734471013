import { TextDecoder } from 'node:util';
import { isEscaped } from './duplicateKeys.ts';
import { JsonError, parseJson } from './jsonScanner.ts';

/**
 * Unescapes a JSON string as a stream of bytes. Requests carry an export file as a string (specification 2.5,
 * `data_orgsv1`).
 * @param content the bytes between the string's quotes, in UTF-8
 * @throws JsonError for an invalid escape, or invalid UTF-8
 */
export async function* stringContent(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let pending = '';
  for await (const chunk of content) {
    pending += decode(decoder, chunk);
    const length = completeLength(pending);
    yield Buffer.from(parseContent(pending.slice(0, length)));
    pending = pending.slice(length);
  }
  decode(decoder);
  if (pending !== '') yield Buffer.from(parseContent(pending));
}

/** Decodes a chunk; without one, checks that the last character is complete. */
function decode(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return decoder.decode(chunk, { stream: chunk !== undefined });
  } catch (cause) {
    throw new JsonError([], `invalid UTF-8: ${String(cause)}`);
  }
}

function parseContent(content: string): string {
  return String(parseJson(`"${content}"`, []));
}

/** Returns the length of the part of `text` that ends before any incomplete escape or surrogate pair. */
function completeLength(text: string): number {
  for (let at = Math.max(0, text.length - 12); at < text.length; at++) {
    if (text[at] !== '\\' || isEscaped(text, at)) continue;
    const length = text[at + 1] === 'u' ? 6 : 2;
    const isHighSurrogate = /^\\u[dD][89abAB]/.test(text.slice(at, at + 6));
    if (at + length > text.length || (isHighSurrogate && at + 12 > text.length)) return at;
  }
  return text.length;
}
