// Parses the text of a JSON value.

const INVALID_TEXT = 'invalid escape, or an unescaped control character, in a text';
const INVALID_SCALAR = 'expected a value: a number, true, false or null is invalid';

/** An escape: a surrogate pair, an unpaired surrogate, or any other. */
const ESCAPE = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F]|(?<half>u[dD][89a-fA-F])|.)/g;

/** Whether a text has an unpaired surrogate, which no database can store. */
function hasHalfPair(text: string): boolean {
  return text.includes('\\u') && text.matchAll(ESCAPE).some(({ groups }) => groups?.half !== undefined);
}

/**
 * Parses the text of a value.
 * @throws SyntaxError, whose message does not quote the value, because it may be secret
 */
export function parseText(text: string): unknown {
  if (hasHalfPair(text)) throw new SyntaxError('unpaired surrogate in an escape');
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError(text.startsWith('"') ? INVALID_TEXT : INVALID_SCALAR);
  }
}
