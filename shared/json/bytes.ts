export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

/** The limits for a JSON text. `nesting` is the maximum depth of objects and lists inside each other. */
export const jsonLimits = { nesting: 100 } as const;

export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/**
 * Measures white space at the beginnings and ends of chunks. A run of white space may begin in one chunk and end in a
 * later chunk.
 */
export class WhiteSpaceRun {
  private length = 0;

  /**
   * Reads the next chunk, and returns the length of the longer of two runs of white space: the run at the end of the
   * chunk, and the run at its beginning, which may have begun in earlier chunks. Ignores white space inside the chunk.
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
