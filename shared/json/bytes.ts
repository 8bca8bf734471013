/** The ASCII codes of JSON's punctuation characters. */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/** Limits of every JSON value. `nesting` is the maximum depth of objects and lists. */
export const jsonLimits = { nesting: 100 } as const;

/** Whether `byte` is JSON white space. */
export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Measures runs of white space across the chunks of a text. */
export class WhiteSpaceRun {
  private length = 0;

  /**
   * Adds the next chunk, and returns the length of the longest run at its start or end. Ignores runs inside the chunk.
   */
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
