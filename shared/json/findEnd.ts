import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isSpace,
  jsonLimits,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './bytes.ts';

/**
 * The progress of a search for the end of a JSON value. `names` is the number of field names that the search has
 * passed.
 */
export interface EndSearch {
  depth: number;
  isInText: boolean;
  isOver: boolean;
  names: number;
}

const BACKSLASH = 0x5c;

/**
 * Searches for the end of a JSON value, starting at `from`. If the value is invalid JSON, the found end may be wrong.
 * If the nesting is too deep, returns early, with `search.depth` above the limit.
 * @returns if `search.isOver`, the position after the value; otherwise, the position at which the next call must
 *   continue. This is the end of `bytes`, or a final backslash, because its escape is incomplete
 */
export function findEnd(bytes: Buffer, from: number, search: EndSearch): number {
  const { length } = bytes;
  let at = from;
  while (at < length) {
    if (search.isInText) {
      at = findQuote(bytes, at);
      if (bytes[at] !== QUOTE) return at;
      at++;
      search.isInText = false;
      search.isOver = search.depth === 0;
      if (search.isOver) return at;
      continue;
    }
    const byte = bytes[at];
    switch (byte) {
      case QUOTE:
        search.isInText = true;
        break;
      case COLON:
        search.names++;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (++search.depth > jsonLimits.nesting) return at;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        search.isOver = search.depth <= 1;
        if (search.depth === 0) return at;
        search.depth--;
        if (search.isOver) return at + 1;
        break;
      default:
        search.isOver = search.depth === 0 && (byte === COMMA || isSpace(byte));
        if (search.isOver) return at;
    }
    at++;
  }
  return at;
}

/**
 * Returns the position of the closing quote. If `bytes` contains none, returns the position at which the next call must
 * continue: the end of `bytes`, or a final backslash.
 */
function findQuote(bytes: Buffer, from: number): number {
  const { length } = bytes;
  let at = from;
  while (at < length) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte !== BACKSLASH) at++;
    else if (at + 1 === length) return at;
    else at += 2;
  }
  return at;
}
