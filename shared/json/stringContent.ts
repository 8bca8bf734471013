import { JsonError, type JsonPath } from './jsonError.ts';
import { parseText } from './parseText.ts';
import { describeInvalidUtf8 } from './strayBytes.ts';

/** Unescapes the content of a JSON string, which arrives in pieces. */
export class StringDecoder {
  private readonly path: JsonPath;
  private readonly decoder = new TextDecoder('utf-8', { fatal: true });
  private pending = '';

  constructor(path: JsonPath) {
    this.path = path;
  }

  /**
   * Unescapes the next piece. If the piece ends inside an escape or a character, keeps this end for the next call. If
   * `piece` is absent, unescapes what the last call has kept.
   * @throws JsonError if the string contains an invalid escape, an unescaped control character, or invalid UTF-8
   */
  decode(piece?: Uint8Array): string {
    try {
      this.pending += this.decoder.decode(piece, { stream: piece !== undefined });
      const length = piece === undefined ? this.pending.length : completeLength(this.pending);
      const text = parseText(`"${this.pending.slice(0, length)}"`);
      this.pending = this.pending.slice(length);
      return String(text);
    } catch (error) {
      if (error instanceof SyntaxError) throw new JsonError(this.path, error.message);
      throw error instanceof TypeError
        ? new JsonError(this.path, describeInvalidUtf8(Buffer.from(piece ?? [])))
        : error;
    }
  }
}

/**
 * Unescapes a JSON string piece by piece, because the string may be a whole export file in the field `data_orgsv1` of a
 * request (specification 2.5).
 * @param content the bytes between the string's quotes
 * @throws JsonError if the string contains an invalid escape, an unescaped control character, or invalid UTF-8
 */
export async function* stringContent(content: AsyncIterable<Uint8Array>, path: JsonPath): AsyncGenerator<Uint8Array> {
  const decoder = new StringDecoder(path);
  for await (const chunk of content) yield Buffer.from(decoder.decode(chunk));
  yield Buffer.from(decoder.decode());
}

/** Returns the length of `text` up to an incomplete escape, or an incomplete surrogate pair, at its end. */
function completeLength(text: string): number {
  for (let at = Math.max(0, text.length - 12); at < text.length; at++) {
    if (text[at] !== '\\' || isEscaped(text, at)) continue;
    const length = text[at + 1] === 'u' ? 6 : 2;
    const isHighSurrogate = /^\\u[dD][89abAB]/.test(text.slice(at, at + 6));
    if (at + length > text.length || (isHighSurrogate && at + 12 > text.length)) return at;
  }
  return text.length;
}

function isEscaped(text: string, position: number): boolean {
  let at = position;
  while (text[at - 1] === '\\') at--;
  return (position - at) % 2 === 1;
}
