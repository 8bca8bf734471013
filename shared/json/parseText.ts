const INVALID_TEXT = 'invalid escape, or an unescaped control character, in a text';
const INVALID_SCALAR = 'expected a value, but found an invalid number, or a misspelled true, false or null';

/**
 * Matches an escape sequence in JSON. The group `half` matches an escape for one half of a surrogate pair without the
 * other half.
 */
const ESCAPE = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F]|(?<half>u[dD][89a-fA-F])|.)/g;

/**
 * True if a JSON text has an escape for one half of a surrogate pair without the other half. No database can store such
 * a text.
 */
function hasHalfPair(text: string): boolean {
  return text.includes('\\u') && text.matchAll(ESCAPE).some(({ groups }) => groups?.half !== undefined);
}

/**
 * Parses the JSON of a value.
 * @throws SyntaxError if the JSON is invalid. The message does not quote the value, because the value may be secret.
 */
export function parseText(text: string): unknown {
  if (hasHalfPair(text)) throw new SyntaxError('unpaired surrogate in an escape');
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError(text.startsWith('"') ? INVALID_TEXT : INVALID_SCALAR);
  }
}
