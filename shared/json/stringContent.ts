import { TextDecoder } from 'node:util';
import { JsonError, parseJson } from './jsonScanner.ts';

/**
 * The bytes that a JSON string stands for, streamed: `content` is what stands between the string's quotes, in UTF-8.
 * Used for a document that is sent as a string inside a request (specification 2.5, `data_orgsv1`).
 * @throws JsonFault when an escape is not JSON's
 */
export async function* stringContent(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let pending = '';
  for await (const chunk of content) {
    pending += decode(decoder, chunk);
    const cut = completeLength(pending);
    yield Buffer.from(parseContent(pending.slice(0, cut)));
    pending = pending.slice(cut);
  }
  decode(decoder);
  if (pending !== '') yield Buffer.from(parseContent(pending));
}

/** Decodes a piece, or without one checks that nothing is left over. */
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

/** How much of `text` can be unescaped without cutting an escape, or a pair of surrogates, in two. */
function completeLength(text: string): number {
  for (let at = Math.max(0, text.length - 12); at < text.length; at++) {
    if (text[at] !== '\\' || isEscaped(text, at)) continue;
    const length = text[at + 1] === 'u' ? 6 : 2;
    const isHighSurrogate = /^\\u[dD][89abAB]/.test(text.slice(at, at + 6));
    if (at + length > text.length || (isHighSurrogate && at + 12 > text.length)) return at;
  }
  return text.length;
}

/** Whether the backslash at `position` is itself escaped by the one before it. */
function isEscaped(text: string, position: number): boolean {
  let at = position;
  while (at > 0 && text[at - 1] === '\\') at--;
  return (position - at) % 2 === 1;
}
