// Scans one JSON value as its bytes arrive, without its content.

import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isSpace,
  jsonLimits,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  unexpected,
} from './bytes.ts';
import { ScalarScanner } from './scalarScanner.ts';
import { StringScanner, skipPlain } from './stringScanner.ts';

/** The kind of a JSON value, determined by its first byte. */
export type ValueKind = 'object' | 'array' | 'string' | 'scalar';

/** Returns the kind of a value that starts with `byte`. */
export function valueKind(byte: number): ValueKind {
  if (byte === OPEN_BRACE) return 'object';
  if (byte === OPEN_BRACKET) return 'array';
  return byte === QUOTE ? 'string' : 'scalar';
}

/** The next token that may follow. */
type ValueExpectation = 'value' | 'firstElement' | 'firstKey' | 'key' | 'colon' | 'separator';

/**
 * Finds the end of one JSON value in bytes that arrive in chunks, each of which ends between two characters. The value is
 * checked at any size, so that no reader can find another end. Duplicate names are not noticed.
 */
export class ValueScanner {
  private readonly string = new StringScanner();
  private readonly scalar = new ScalarScanner();
  private readonly open = new OpenContainers();
  private expect: ValueExpectation = 'value';
  /** The number of field names so far. */
  names = 0;
  /** Whether the value is complete. */
  done = true;

  /** Begins a value, at its first byte. */
  begin(): void {
    this.expect = 'value';
    this.names = 0;
    this.done = false;
  }

  /**
   * Scans from `position`; returns the position after the value, or the length of `bytes` if the value is incomplete.
   * @throws SyntaxError where it is no JSON
   */
  advance(bytes: Buffer, position: number): number {
    let at = position;
    while (at < bytes.length && !this.done) {
      if (!this.string.done) at = this.advanceToken(this.string, bytes, at);
      else if (!this.scalar.done) at = this.advanceToken(this.scalar, bytes, at);
      else at = this.advanceStructure(bytes, at);
    }
    return at;
  }

  private advanceToken(token: StringScanner | ScalarScanner, bytes: Buffer, at: number): number {
    const next = token.advance(bytes, at);
    this.done = token.done && this.open.depth === 0;
    return next;
  }

  /** Scans up to the first byte of a scalar, behind the quote of a string, or to the value's end. */
  private advanceStructure(bytes: Buffer, position: number): number {
    let at = position;
    while (at < bytes.length) {
      const byte = bytes[at++] ?? 0;
      switch (byte) {
        case QUOTE:
          at = this.enterString(bytes, at);
          if (this.done || !this.string.done) return at;
          break;
        case COMMA:
          this.require(this.expect === 'separator', byte);
          this.expect = this.open.isList ? 'value' : 'key';
          break;
        case COLON:
          this.require(this.expect === 'colon', byte);
          this.expect = 'value';
          break;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          this.openContainer(byte);
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          this.closeContainer(byte);
          if (this.done) return at;
          break;
        default:
          if (isSpace(byte)) break;
          this.requireValue(byte);
          this.expect = 'separator';
          this.scalar.begin();
          return at - 1;
      }
    }
    return at;
  }

  /** Enters the string behind a quote; returns the position after it, or of the first byte for its own scanner. */
  private enterString(bytes: Buffer, position: number): number {
    const isKey = this.expect === 'key' || this.expect === 'firstKey';
    if (isKey) this.names++;
    else this.requireValue(QUOTE);
    this.expect = isKey ? 'colon' : 'separator';
    const end = skipPlain(bytes, position);
    if (bytes[end] !== QUOTE) {
      this.string.begin();
      return end;
    }
    this.done = this.open.depth === 0;
    return end + 1;
  }

  private openContainer(byte: number): void {
    this.requireValue(byte);
    this.open.push(byte === OPEN_BRACKET);
    this.expect = byte === OPEN_BRACKET ? 'firstElement' : 'firstKey';
  }

  private closeContainer(byte: number): void {
    const mayEnd = this.expect === 'separator' || this.expect === 'firstElement' || this.expect === 'firstKey';
    this.require(mayEnd && this.open.isList === (byte === CLOSE_BRACKET), byte);
    this.open.pop();
    this.expect = 'separator';
    this.done = this.open.depth === 0;
  }

  private requireValue(byte: number): void {
    this.require(this.expect === 'value' || this.expect === 'firstElement', byte);
  }

  private require(holds: boolean, byte: number): void {
    if (!holds) throw new SyntaxError(unexpected(byte, expectedText(this.expect, this.open.isList)));
  }
}

function expectedText(expect: ValueExpectation, isList: boolean): string {
  switch (expect) {
    case 'key':
    case 'firstKey':
      return 'a field name in double quotes';
    case 'colon':
      return '":"';
    case 'separator':
      return isList ? '"," or "]"' : '"," or "}"';
    default:
      return 'a value';
  }
}

/** The number of bits that a number has for bitwise operators. */
const BITS = 32;

/** The open objects and lists, one bit each: a large value may have very many. */
class OpenContainers {
  depth = 0;
  private bits = 0;
  private readonly outer: number[] = [];

  /** Whether the innermost one is a list. */
  get isList(): boolean {
    return (this.bits & 1) === 1;
  }

  push(isList: boolean): void {
    if (this.depth === jsonLimits.nesting) throw new SyntaxError(`more than ${jsonLimits.nesting} levels of nesting`);
    if (this.depth > 0 && this.depth % BITS === 0) {
      this.outer.push(this.bits);
      this.bits = 0;
    }
    this.bits = (this.bits << 1) | Number(isList);
    this.depth++;
  }

  pop(): void {
    this.depth--;
    if (this.depth > 0 && this.depth % BITS === 0) this.bits = this.outer.pop() ?? 0;
    else this.bits >>>= 1;
  }
}
