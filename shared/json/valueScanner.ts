import { isSpace } from './bytes.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;

/** The kind of a JSON value, determined by its first byte. */
export type ValueKind = 'object' | 'array' | 'string' | 'scalar';

/** Returns the kind of a value that starts with `byte`. */
export function valueKind(byte: number): ValueKind {
  if (byte === OPEN_BRACE) return 'object';
  if (byte === OPEN_BRACKET) return 'array';
  return byte === QUOTE ? 'string' : 'scalar';
}

/**
 * Finds the end of one JSON value in bytes that arrive in chunks. It is fast because it looks at strings and brackets only.
 * It does not check that the value is well-formed: parsing the bytes does.
 */
export class ValueScanner {
  private depth = 0;
  private inString = false;
  /** Whether the last byte of the chunk, inside a string, was a backslash that escapes the next byte. */
  private escaped = false;
  private readonly scalar: boolean;
  /** Whether the value is complete. */
  done = false;

  constructor(kind: ValueKind) {
    this.scalar = kind === 'scalar';
  }

  /** Scans from `position`; returns the position after the value, or the length of `bytes` if the value is incomplete. */
  advance(bytes: Buffer, position: number): number {
    return this.scalar ? this.advanceScalar(bytes, position) : this.advanceNested(bytes, position);
  }

  private advanceScalar(bytes: Buffer, position: number): number {
    for (let at = position; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || isSpace(byte)) {
        this.done = true;
        return at;
      }
    }
    return bytes.length;
  }

  private advanceNested(bytes: Buffer, position: number): number {
    let at = position;
    const length = bytes.length;
    let depth = this.depth;
    while (at < length) {
      if (this.inString) {
        at = this.advanceString(bytes, at);
        if (this.inString) break;
        if (depth === 0) return this.finish(at);
        continue;
      }
      const byte = bytes[at++];
      if (byte === QUOTE) this.inString = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        depth--;
        if (depth === 0) return this.finish(at);
      }
    }
    this.depth = depth;
    return at;
  }

  private finish(position: number): number {
    this.done = true;
    return position;
  }

  private advanceString(bytes: Buffer, position: number): number {
    let at = position;
    if (this.escaped && at < bytes.length) {
      this.escaped = false;
      at++;
    }
    const start = at;
    for (;;) {
      const quote = bytes.indexOf(QUOTE, at);
      const end = quote === -1 ? bytes.length : quote;
      const escapes = oddBackslashes(bytes, start, end);
      if (quote === -1) {
        this.escaped = escapes;
        return bytes.length;
      }
      at = quote + 1;
      if (!escapes) {
        this.inString = false;
        return at;
      }
    }
  }
}

/** Whether an odd number of backslashes precedes `end`: then the byte at `end` is escaped. */
function oddBackslashes(bytes: Buffer, start: number, end: number): boolean {
  let at = end;
  while (at > start && bytes[at - 1] === BACKSLASH) at--;
  return (end - at) % 2 === 1;
}
