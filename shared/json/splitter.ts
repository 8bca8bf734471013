// Splits a JSON document of any size while its bytes arrive. The splitter itself checks only the structure of the
// document outside the values that it keeps. JSON.parse checks the kept values.

import { isUtf8 } from 'node:buffer';
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
} from './bytes.ts';
import { type EndSearch, findEnd } from './findEnd.ts';
import { JsonError, type JsonPath } from './jsonError.ts';
import { isJsonObject } from './jsonObject.ts';
import { parseText } from './parseText.ts';
import {
  describeInvalidUtf8,
  firstStray,
  invalidByteAt,
  isCutAt,
  isNonAscii,
  unexpectedCharacter,
} from './strayBytes.ts';
import { StringDecoder } from './stringContent.ts';

/**
 * How to process a value. `enter` splits an object or a list into the values inside, and parses a text or a scalar.
 * `keep` parses the whole value. `skip` only finds the value's end, because the caller checks the bytes separately.
 * `glance` parses a value that fits the size limit. For a larger object, list or text, `glance` checks the syntax and
 * drops the value. `hold` is like `glance`, but the caller parses the value with `parseHeld`.
 */
export type Treatment = 'enter' | 'keep' | 'skip' | 'glance' | 'hold';

/** The kind of a JSON value, determined by its first byte. */
export type ValueKind = 'object' | 'array' | 'string' | 'scalar';

/** Returns how to process a value. `start` is the value's byte offset in the input. */
export type Treat = (path: JsonPath, kind: ValueKind, start: number) => Treatment;

/** A value that the splitter returns. `start` and `end` are byte offsets in the input. */
export interface SplitValue {
  readonly path: JsonPath;
  readonly kind: ValueKind;
  readonly start: number;
  readonly end: number;
  /** The number of field names in the value, including the names in inner objects. */
  readonly names: number;
  /**
   * The value's JSON. Empty if the splitter skipped or dropped the value (see `Treatment`). If the value was held, each
   * character stands for one byte.
   */
  readonly text: string;
  /** The parsed value; undefined if the value was skipped, dropped or held. */
  readonly value: unknown;
}

export interface SplitLimits {
  /** The maximum size of a kept value. */
  readonly valueBytes: number;
  /** The maximum number of fields in an object whose treatment is `enter`. */
  readonly fields: number;
  /**
   * True if an object may have more fields than `fields`. The splitter then does not check whether the names of the
   * additional fields are unique.
   */
  readonly hasFurtherFields?: boolean;
}

interface Container {
  readonly isList: boolean;
  readonly names: Set<string>;
  elements: number;
}

/** A value or a field name whose end has not arrived yet. */
interface RunningValue {
  readonly kind: ValueKind;
  readonly start: number;
  readonly isName: boolean;
  /**
   * What happens if the value is too large. If true, the splitter only checks the value's syntax, and drops the value.
   * If false, the splitter rejects the value.
   */
  readonly isOptional: boolean;
  readonly isHeld: boolean;
  isKept: boolean;
  /** Checks the value's syntax piece by piece. Present only if the value is too large to keep. */
  check?: ValueCheck;
  readonly search: EndSearch;
}

interface ValueCheck {
  push(piece: Uint8Array): void;
  end(): void;
}

const SKIPPED = { text: '', value: undefined };

type Expectation = 'value' | 'first' | 'name' | 'colon' | 'separator' | 'end';

/**
 * Splits a JSON object or list that arrives in chunks, and returns each value when its end has arrived. Keeps at most
 * one value at a time. Checks that field names are unique in objects whose treatment is `enter`. Callers check
 * this in the returned values with `uniqueValue`.
 */
export class JsonSplitter {
  private readonly treat: Treat;
  private readonly limits: SplitLimits;
  private readonly open: Container[] = [];
  private readonly path: (string | number)[] = [];
  private expect: Expectation = 'value';
  /**
   * The first `remaining` bytes of this buffer are not processed yet, or must be processed again with the next chunk.
   * The other bytes of the buffer are free space.
   */
  private buffer: Buffer = Buffer.alloc(0);
  private remaining = 0;
  /** The position in the input of the buffer's first byte. */
  private offset: number;
  private running: RunningValue | undefined;
  /** The position in the buffer up to which the end of the running value was searched. The search continues there. */
  private scanned = 0;

  /** @param offset the position of the first byte that `push` receives, if the bytes are a part of a larger input */
  constructor(treat: Treat, limits: SplitLimits, offset = 0) {
    this.treat = treat;
    this.limits = limits;
    this.offset = offset;
  }

  /**
   * Returns the values that end in this chunk.
   * @throws JsonError if the input is invalid or exceeds a limit
   */
  push(chunk: Uint8Array): SplitValue[] {
    const view = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const bytes = this.remaining === 0 ? view : this.append(view);
    const values: SplitValue[] = [];
    let at = this.scanned;
    while (at < bytes.length) {
      const { running } = this;
      if (running === undefined) {
        // An error about an unexpected character quotes it, so wait until all bytes of the character have arrived.
        if (isCutAt(bytes, at)) break;
        at = this.readStructure(bytes, at);
      } else {
        const from = at;
        at = findEnd(bytes, from, running.search);
        if (running.search.depth > jsonLimits.nesting)
          throw this.error(`more than ${jsonLimits.nesting} levels of nesting`);
        checkPart(running, bytes, from, at);
        if (!running.search.isOver) break;
        this.complete(running, bytes, at, values);
      }
    }
    this.retain(bytes, at);
    return values;
  }

  /** @throws JsonError if the input is incomplete */
  end(): void {
    if (this.expect !== 'end' || this.remaining > 0) throw this.error('unexpected end of JSON input');
  }

  /**
   * The offset in the input at which a skipped value starts, if the value's end has not arrived yet; otherwise
   * undefined.
   */
  get skippedStart(): number | undefined {
    return this.running?.isKept === false ? this.running.start : undefined;
  }

  /**
   * Appends a chunk to the remaining bytes, and returns all of them. Doubles the buffer if it is full: a large value
   * that arrives in many small chunks is then copied only a few times.
   */
  private append(chunk: Buffer): Buffer {
    const length = this.remaining + chunk.length;
    if (length > this.buffer.length) {
      const grown = Buffer.allocUnsafe(2 * length);
      this.buffer.copy(grown, 0, 0, this.remaining);
      this.buffer = grown;
    }
    chunk.copy(this.buffer, this.remaining);
    return this.buffer.subarray(0, length);
  }

  /**
   * Keeps bytes until the next chunk arrives: all bytes of a value that must be returned, otherwise only the bytes from
   * `at` on.
   */
  private retain(bytes: Buffer, at: number): void {
    const { running } = this;
    if (running !== undefined) this.checkSize(running, bytes, at);
    const from = running?.isKept ? running.start - this.offset : at;
    if (this.remaining === 0 || from > 0) this.keep(bytes.subarray(from));
    this.remaining = bytes.length - from;
    this.offset += from;
    this.scanned = at - from;
  }

  /** Moves the bytes `rest` to the start of the buffer. They may already be in the buffer. */
  private keep(rest: Buffer): void {
    if (rest.length > this.buffer.length) this.buffer = Buffer.allocUnsafe(rest.length);
    rest.copy(this.buffer);
  }

  /**
   * If a running value exceeds the maximum size, rejects it, or starts to check it piece by piece if the value is
   * optional.
   * @param at the position in `bytes` up to which the value's end was searched
   */
  private checkSize(running: RunningValue, bytes: Buffer, at: number): void {
    const { valueBytes } = this.limits;
    const from = running.start - this.offset;
    if (!running.isKept || at - from <= valueBytes) return;
    if (!running.isOptional) throw this.error(`the value exceeds ${valueBytes} bytes`);
    running.isKept = false;
    const isText = running.kind === 'string';
    running.check = isText ? stringCheck([...this.path]) : containerCheck([...this.path], this.limits, running.start);
    checkPart(running, bytes, isText ? from + 1 : from, at);
  }

  private readStructure(bytes: Buffer, at: number): number {
    const byte = bytes[at] ?? 0;
    if (isSpace(byte)) return at + 1;
    const container = this.open.at(-1);
    const closing = container?.isList ? CLOSE_BRACKET : CLOSE_BRACE;
    switch (this.expect) {
      case 'separator':
        if (byte === closing) return this.close(at);
        if (byte !== COMMA) throw this.unexpected(bytes, at, container?.isList ? '"," or "]"' : '"," or "}"');
        this.expect = container?.isList ? 'value' : 'name';
        return at + 1;
      case 'colon':
        if (byte !== COLON) throw this.unexpected(bytes, at, '":"');
        this.expect = 'value';
        return at + 1;
      case 'first':
        if (byte === closing) return this.close(at);
        return container?.isList ? this.begin(bytes, at) : this.beginName(bytes, at);
      case 'name':
        return this.beginName(bytes, at);
      case 'value':
        return this.begin(bytes, at);
      case 'end':
        throw this.error(afterEnd(bytes, at), this.offset + at);
    }
  }

  private beginName(bytes: Buffer, at: number): number {
    if (bytes[at] !== QUOTE) throw this.unexpected(bytes, at, 'a field name in double quotes');
    return this.run('string', at, true, 'keep');
  }

  private begin(bytes: Buffer, at: number): number {
    const byte = bytes[at] ?? 0;
    const container = this.open.at(-1);
    if (container?.isList) this.path[this.path.length - 1] = container.elements++;
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte === COLON || isNonAscii(byte))
      throw this.unexpected(bytes, at, 'a value');
    const kind = valueKind(byte);
    const treatment = this.treat(this.path, kind, this.offset + at);
    if (treatment !== 'enter' || kind === 'string' || kind === 'scalar') return this.run(kind, at, false, treatment);
    this.open.push({ isList: kind === 'array', names: new Set(), elements: 0 });
    this.path.push(0);
    this.expect = 'first';
    return at + 1;
  }

  private close(at: number): number {
    this.open.pop();
    this.path.pop();
    this.expectNext();
    return at + 1;
  }

  private expectNext(): void {
    this.expect = this.open.length === 0 ? 'end' : 'separator';
  }

  private run(kind: ValueKind, at: number, isName: boolean, treatment: Treatment): number {
    const search = { depth: 0, isInText: false, isOver: false, names: 0 };
    const isKept = treatment !== 'skip';
    const isHeld = treatment === 'hold';
    const isOptional = (isHeld || treatment === 'glance') && kind !== 'scalar';
    this.running = { kind, start: this.offset + at, isName, isOptional, isHeld, isKept, search };
    return at;
  }

  /** Ends a value or field name whose last byte is before `at`. Adds a value to `values`. */
  private complete(running: RunningValue, bytes: Buffer, at: number, values: SplitValue[]): void {
    this.checkSize(running, bytes, at);
    const { kind, start, isName, isHeld, isKept, search, check } = running;
    check?.end();
    this.running = undefined;
    const kept = bytes.subarray(start - this.offset, at);
    const { text, value } = !isKept ? SKIPPED : isHeld ? hold(kept) : parseKept(kept, start, () => this.errorPath);
    if (isName) this.enterName(String(value));
    else {
      this.expectNext();
      values.push({ path: [...this.path], kind, start, end: this.offset + at, names: search.names, text, value });
    }
  }

  private enterName(name: string): void {
    const names = this.open.at(-1)?.names;
    this.path[this.path.length - 1] = name;
    if (names?.has(name)) throw this.error(`duplicate field ${JSON.stringify(name)}`);
    const { fields, hasFurtherFields } = this.limits;
    if (names !== undefined && names.size < fields) names.add(name);
    else if (hasFurtherFields !== true) throw this.error(`more than ${fields} fields`);
    this.expect = 'colon';
  }

  private error(message: string, position?: number): JsonError {
    return new JsonError(this.errorPath, message, { position });
  }

  /**
   * The path for an error at the current position. If no field of an object has begun yet, this is the path of the
   * object.
   */
  private get errorPath(): JsonPath {
    const container = this.open.at(-1);
    const isNameless = container !== undefined && !container.isList && container.names.size === 0;
    return isNameless ? this.path.slice(0, -1) : [...this.path];
  }

  private unexpected(bytes: Buffer, at: number, expected: string): JsonError {
    return this.error(unexpectedCharacter(bytes, at, `, expected ${expected}`), this.offset + at);
  }
}

/** @param pathOf returns the path of the value; called only if the value is invalid */
function parseKept(bytes: Buffer, start: number, pathOf: () => JsonPath): Pick<SplitValue, 'text' | 'value'> {
  try {
    if (!isUtf8(bytes)) throw new SyntaxError(describeInvalidUtf8(bytes));
    const text = bytes.toString();
    return { text, value: parseText(text) };
  } catch (error) {
    throw error instanceof SyntaxError ? locate(bytes, start, pathOf(), error.message) : error;
  }
}

function hold(bytes: Buffer): Pick<SplitValue, 'text' | 'value'> {
  return { text: bytes.toString('latin1'), value: undefined };
}

/**
 * Parses a value that the splitter has returned unparsed, because the value's treatment is `hold`.
 * @throws JsonError if the value is invalid
 */
export function parseHeld({ path, text }: Pick<SplitValue, 'path' | 'text'>): Pick<SplitValue, 'text' | 'value'> {
  return parseKept(Buffer.from(text, 'latin1'), 0, () => path);
}

function afterEnd(bytes: Buffer, at: number): string {
  const place = ' after the end of the document';
  const byte = bytes[at] ?? 0;
  if (byte === OPEN_BRACE || byte === OPEN_BRACKET)
    return `unexpected second document (use one document per file)${place}`;
  if (byte === 0 || byte === CTRL_Z) return `unexpected padding (byte ${byte}: remove it)${place}`;
  return isNonAscii(byte) ? unexpectedCharacter(bytes, at, place) : `unexpected data${place}`;
}

const CTRL_Z = 0x1a;

function valueKind(byte: number): ValueKind {
  if (byte === OPEN_BRACE) return 'object';
  if (byte === OPEN_BRACKET) return 'array';
  return byte === QUOTE ? 'string' : 'scalar';
}

function containerCheck(path: JsonPath, limits: SplitLimits, start: number): ValueCheck {
  const splitter = new JsonSplitter(
    (_path, kind) => (kind === 'object' || kind === 'array' ? 'enter' : 'glance'),
    { ...limits, hasFurtherFields: true },
    start,
  );
  return {
    push: (piece) => inside(path, () => splitter.push(piece)),
    end: () => inside(path, () => splitter.end()),
  };
}

function stringCheck(path: JsonPath): ValueCheck {
  const decoder = new StringDecoder(path);
  return {
    push: (piece) => void decoder.decode(piece),
    end: () => void decoder.decode(),
  };
}

/**
 * Checks the next piece of a value that is too large to keep. For a string, omits the closing quote, because
 * `StringDecoder` expects only the content between the quotes.
 */
function checkPart({ kind, search, check }: RunningValue, bytes: Buffer, from: number, to: number): void {
  check?.push(bytes.subarray(from, kind === 'string' && search.isOver ? to - 1 : to));
}

function inside(path: JsonPath, check: () => void): void {
  try {
    check();
  } catch (error) {
    throw error instanceof JsonError ? below(path, error) : error;
  }
}

function below(path: JsonPath, { path: inner, message, position }: JsonError): JsonError {
  return new JsonError([...path, ...inner], message, { position });
}

/** Creates the error for an invalid value, with the path of the invalid part inside the value. */
function locate(bytes: Buffer, start: number, path: JsonPath, message: string): JsonError {
  const limits = { valueBytes: bytes.length, fields: Number.POSITIVE_INFINITY };
  const kind = valueKind(bytes[0] ?? 0);
  if (kind === 'string' || kind === 'scalar') return errorInside(bytes, start, path, message);
  try {
    new JsonSplitter(() => 'enter', limits, start).push(bytes);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return below(path, error);
  }
  return new JsonError(path, message, { position: start });
}

/**
 * Creates the error for an invalid value. If it is unknown which byte is wrong, the error contains the position of the
 * value's first byte.
 */
function errorInside(bytes: Buffer, start: number, path: JsonPath, message: string): JsonError {
  if (!isUtf8(bytes)) return new JsonError(path, message, { position: start + invalidByteAt(bytes) });
  const stray = bytes[0] === QUOTE ? undefined : firstStray(bytes);
  if (stray === undefined) return new JsonError(path, message, { position: start });
  const problem = `unexpected ${stray.what} in a number, true, false or null`;
  return new JsonError(path, problem, { position: start + stray.at });
}

/**
 * Returns a kept value, after a check that no object in the value repeats a field name. The check is needed because
 * JSON.parse accepts a repeated field name and uses the last field (zitadel 1.1).
 * @throws JsonError if an object repeats a field name
 */
export function uniqueValue({ path, names, text, value }: Omit<SplitValue, 'kind' | 'start' | 'end'>): unknown {
  if (names === countNames(value)) return value;
  const error = locate(Buffer.from(text), 0, path, 'duplicate field');
  throw new JsonError(error.path, error.message);
}

function countNames(value: unknown): number {
  let names = 0;
  if (Array.isArray(value)) for (const element of value) names += countNames(element);
  else if (isJsonObject(value)) for (const name in value) names += 1 + countNames(value[name]);
  return names;
}
