export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/** `nesting` is the maximum depth of nested objects and lists. */
export const jsonLimits = { nesting: 100 } as const;

export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Measures the white space around the boundaries between chunks. A run of white space may span several chunks. */
export class WhiteSpaceRun {
  private length = 0;

  /**
   * Adds the next chunk, and returns the length of the longer of two runs of white space: the run at the chunk's end,
   * and the run at its start, which may begin in earlier chunks. Ignores white space between other bytes.
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
