const INVALID_TEXT = 'invalid escape, or an unescaped control character, in a text';
const INVALID_SCALAR = 'expected a value, but found an invalid number, true, false or null';

/** Matches an escape sequence in JSON. The group `half` matches a surrogate without the other half of its pair. */
const ESCAPE = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F]|(?<half>u[dD][89a-fA-F])|.)/g;

/** No database can store a text with only one half of a surrogate pair. */
function hasHalfPair(text: string): boolean {
  return text.includes('\\u') && text.matchAll(ESCAPE).some(({ groups }) => groups?.half !== undefined);
}

/** @throws SyntaxError with a message that does not quote the value, because the value may be secret */
export function parseText(text: string): unknown {
  if (hasHalfPair(text)) throw new SyntaxError('unpaired surrogate in an escape');
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError(text.startsWith('"') ? INVALID_TEXT : INVALID_SCALAR);
  }
}
