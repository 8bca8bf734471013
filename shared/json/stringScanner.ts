// Scans a JSON string as its bytes arrive: its escapes and its UTF-8.

import { isUtf8 } from 'node:buffer';
import { QUOTE } from './bytes.ts';

const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/** The meaning of a byte of a string; most have none. */
const PLAIN = 0;
const QUOTED = 1;
const ESCAPING = 2;
const CONTROL = 3;
const NON_ASCII = 4;
const meanings = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === QUOTE) return QUOTED;
  if (byte === BACKSLASH) return ESCAPING;
  if (byte < 0x20) return CONTROL;
  return byte < 0x80 ? PLAIN : NON_ASCII;
});

const simpleEscapes: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));

/** Returns the position of the first byte that is no plain ASCII character; that of most strings is their last quote. */
export function skipPlain(bytes: Buffer, position: number): number {
  let at = position;
  while (at < bytes.length && meanings[bytes[at] ?? 0] === PLAIN) at++;
  return at;
}

/** Where an escape ends: nowhere yet, directly behind its backslash, or behind as many hexadecimal digits. */
const NO_ESCAPE = 0;
const AFTER_BACKSLASH = -1;
const DIGITS = 4;

/**
 * Finds the end of a JSON string in bytes that arrive in chunks, each of which ends between two characters. Checks escapes,
 * control characters, UTF-8 and, as no database can store half of one, surrogate pairs.
 */
export class StringScanner {
  private escape = NO_ESCAPE;
  private code = 0;
  /** Whether the last escape is the first half of a surrogate pair. */
  private isHalf = false;
  private chunk: Buffer | undefined;
  private isChunkUtf8 = true;
  /** Whether the string is complete. */
  done = true;

  /** Begins a string, behind its first quote or after plain characters. */
  begin(): void {
    this.done = false;
  }

  /**
   * Scans from `position`; returns the position after the string, or the length of `bytes` if the string is incomplete.
   * @throws SyntaxError
   */
  advance(bytes: Buffer, position: number): number {
    const { length } = bytes;
    let at = position;
    let isAscii = true;
    while (at < length) {
      if (this.escape !== NO_ESCAPE) {
        at = this.advanceEscape(bytes, at);
        continue;
      }
      if (!this.isHalf) at = skipPlain(bytes, at);
      if (at === length) break;
      const meaning = meanings[bytes[at++] ?? 0];
      if (meaning === NON_ASCII && !this.isHalf) isAscii = false;
      else if (meaning === ESCAPING) this.escape = AFTER_BACKSLASH;
      else if (this.isHalf) throw unpaired();
      else if (meaning === CONTROL) throw new SyntaxError('unescaped control character in a string');
      else {
        this.done = true;
        break;
      }
    }
    if (!isAscii && !this.isUtf8(bytes, position, at)) throw new SyntaxError('invalid UTF-8');
    return at;
  }

  /** Checks a chunk once for all of its strings, and each of them only if another part of the chunk is invalid. */
  private isUtf8(bytes: Buffer, start: number, end: number): boolean {
    if (bytes !== this.chunk) {
      this.chunk = bytes;
      this.isChunkUtf8 = isUtf8(bytes);
    }
    return this.isChunkUtf8 || isUtf8(bytes.subarray(start, end));
  }

  private advanceEscape(bytes: Buffer, at: number): number {
    const byte = bytes[at] ?? 0;
    if (this.escape !== AFTER_BACKSLASH) this.addDigit(byte);
    else if (byte === LETTER_U) [this.escape, this.code] = [DIGITS, 0];
    else if (!simpleEscapes.has(byte)) throw new SyntaxError('invalid escape in a string');
    else if (this.isHalf) throw unpaired();
    else this.escape = NO_ESCAPE;
    return at + 1;
  }

  private addDigit(byte: number): void {
    const digit = Number.parseInt(String.fromCharCode(byte), 16);
    if (Number.isNaN(digit)) throw new SyntaxError('invalid escape in a string');
    this.code = this.code * 16 + digit;
    this.escape--;
    if (this.escape !== NO_ESCAPE) return;
    const isSecondHalf = this.code >= 0xdc00 && this.code <= 0xdfff;
    if (isSecondHalf !== this.isHalf) throw unpaired();
    this.isHalf = this.code >= 0xd800 && this.code <= 0xdbff;
  }
}

function unpaired(): SyntaxError {
  return new SyntaxError('unpaired surrogate in an escape');
}
