/** The bytes of JSON's punctuation. */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/** The limits of every JSON value, which is scanned as it arrives. */
export const jsonLimits = { nesting: 1_000_000, scalarBytes: 1_000 } as const;

/** Whether the bytes at the start of a JSON text begin with a byte order mark, which RFC 8259 forbids. */
export function hasByteOrderMark(start: Uint8Array): boolean {
  return start[0] === 0xef;
}

/** Whether `byte` is JSON white space. */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Returns the text of an error. */
export function unexpected(byte: number, expected: string): string {
  const character = byte < 0x80 ? JSON.stringify(String.fromCharCode(byte)) : 'non-ASCII byte';
  return `unexpected ${character}, expected ${expected}`;
}

const LONGEST_CHARACTER = 4;

/** Returns how many of some bytes of UTF-8 end between two characters: the next bytes complete the last one. */
export function wholeCharacters(bytes: Uint8Array): number {
  const { length } = bytes;
  for (let back = 1; back < LONGEST_CHARACTER && back <= length; back++) {
    const byte = bytes[length - back] ?? 0;
    if (byte < 0x80) return length;
    if (byte < 0xc0) continue;
    const size = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : LONGEST_CHARACTER;
    return size > back ? length - back : length;
  }
  return length;
}

/** The length of white space without interruption, over the chunks of a text. */
export class WhiteSpaceRun {
  private length = 0;

  /** Adds the next chunk; returns the longest run that touches its start, or its end. */
  add(chunk: Uint8Array): number {
    let start = 0;
    while (start < chunk.length && isSpace(chunk[start])) start++;
    this.length += start;
    if (start === chunk.length) return this.length;
    const before = this.length;
    let end = chunk.length;
    while (isSpace(chunk[end - 1])) end--;
    this.length = chunk.length - end;
    return Math.max(before, this.length);
  }
}
