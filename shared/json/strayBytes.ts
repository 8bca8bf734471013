const FIRST_NON_ASCII = 0x80;

interface CharacterKind {
  readonly pattern: RegExp;
  readonly what: string;
  readonly remedy: string;
}

/**
 * Characters that web pages, word processors and input methods insert in place of the spaces and quotes that JSON
 * requires.
 */
const kinds: readonly CharacterKind[] = [
  { pattern: /\p{Zs}/u, what: 'a special space', remedy: 'replace it with an ordinary space' },
  { pattern: /[\p{Zl}\p{Zp}\u0085]/u, what: 'a special line break', remedy: 'replace it with an ordinary line break' },
  { pattern: /\p{Cf}/u, what: 'an invisible character', remedy: 'remove it' },
  { pattern: /[\p{Pi}\p{Pf}‚„″＂]/u, what: 'a typographic quote', remedy: 'replace it with "' },
];

/**
 * Returns the length of a UTF-8 character in bytes, by its first byte. Returns 1 for a byte with which no character
 * starts.
 */
function characterLength(first: number): number {
  if (first < 0xc2 || first > 0xf4) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}

/** Whether `bytes` ends inside the character that starts at `at`. */
export function isCutAt(bytes: Buffer, at: number): boolean {
  return at + characterLength(bytes[at] ?? 0) > bytes.length;
}

export function isNonAscii(byte: number): boolean {
  return byte >= FIRST_NON_ASCII;
}

/**
 * Describes a character that is not allowed outside of JSON strings.
 * @param place the words that end the description, such as ` after the end of the document`
 */
export function unexpectedCharacter(bytes: Buffer, at: number, place: string): string {
  const character = bytes.toString('utf8', at, at + characterLength(bytes[at] ?? 0));
  if (character.includes('\ufffd')) return invalidByte(bytes, at);
  return `unexpected ${describeStray(character) ?? JSON.stringify(character)}${place}`;
}

/**
 * Describes the first character outside ASCII if programs typically insert it by mistake, such as a typographic quote.
 * Otherwise returns undefined.
 */
export function firstStray(bytes: Buffer): { readonly at: number; readonly what: string } | undefined {
  const at = bytes.findIndex(isNonAscii);
  if (at < 0) return undefined;
  const what = describeStray(bytes.toString('utf8', at, at + characterLength(bytes[at] ?? 0)));
  return what === undefined ? undefined : { at, what };
}

function describeStray(character: string): string | undefined {
  const code = character.codePointAt(0) ?? 0;
  if (code < FIRST_NON_ASCII) return undefined;
  const point = codePoint(code);
  const kind = kinds.find(({ pattern }) => pattern.test(character));
  if (kind !== undefined) return `${point} (${kind.what}: ${kind.remedy})`;
  const plain = character.normalize('NFKC');
  return /^[!-~]$/.test(plain) ? `${point} (a full-width character: replace it with ${plain})` : undefined;
}

function codePoint(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

export function invalidByteAt(bytes: Buffer): number {
  const decoded = Buffer.from(bytes.toString());
  let at = 0;
  while (at < bytes.length && bytes[at] === decoded[at]) at++;
  // The decoder has replaced invalid bytes with the bytes of U+FFFD. If an invalid byte equals the first byte of
  // U+FFFD, the loop has stopped inside U+FFFD, so go back to its start.
  while (isContinuation(decoded[at])) at--;
  return at;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === FIRST_NON_ASCII;
}

export function describeInvalidUtf8(bytes: Buffer): string {
  const at = invalidByteAt(bytes);
  return at < bytes.length ? invalidByte(bytes, at) : `invalid UTF-8: ${CONVERT}`;
}

const CONVERT = 'convert the file, for example with `iconv -f ENCODING -t UTF-8`';

function invalidByte(bytes: Buffer, at: number): string {
  const byte = bytes[at] ?? 0;
  const hex = `0x${byte.toString(16).toUpperCase()}`;
  // An invalid byte between two ASCII characters is probably a letter in an encoding with one byte per character.
  const standsAlone = !isNonAscii(bytes[at + 1] ?? 0) && !isNonAscii(bytes[at - 1] ?? 0);
  if (!standsAlone) return `invalid UTF-8 (byte ${hex}): ${CONVERT}`;
  const character = new TextDecoder('windows-1252').decode(bytes.subarray(at, at + 1));
  const shown = /[\p{L}\p{P}\p{S}]/u.test(character) ? JSON.stringify(character) : codePoint(character.charCodeAt(0));
  return `invalid UTF-8 (byte ${hex}, which is ${shown} in Windows-1252): convert the file, for example with \`iconv -f WINDOWS-1252 -t UTF-8\``;
}
