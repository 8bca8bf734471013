// Scans JSON of any size as it arrives, and keeps the values that a caller asks for.

import { CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, isSpace, QUOTE, unexpected, wholeCharacters } from './bytes.ts';
import { type ValueKind, ValueScanner, valueKind } from './valueScanner.ts';

/** The keys and indexes from the root to a value. */
export type JsonPath = readonly (string | number)[];

/**
 * The treatment of a value, which is checked whatever the treatment is. `enter` scans the values inside it, `keep` keeps its
 * text, and `skip` only finds its start and end. `glance` keeps its text unless the text is too large.
 */
export type Treatment = 'enter' | 'keep' | 'skip' | 'glance';

/** A complete value. `start` and `end` are byte offsets in the input; `text` is empty unless it was kept. */
export interface ScannedValue {
  readonly path: JsonPath;
  readonly kind: ValueKind;
  readonly start: number;
  readonly end: number;
  /** The number of field names in the value. */
  readonly names: number;
  readonly text: string;
}

/** An error in the input: it is not JSON, or does not have the expected structure. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
  readonly path: JsonPath;

  constructor(path: JsonPath, message: string) {
    super(message);
    this.path = path;
  }
}

interface Container {
  readonly array: boolean;
  readonly keys: Set<string>;
  index: number;
}

/** A value whose end is not yet found. */
interface RunningValue {
  readonly kind: ValueKind;
  readonly start: number;
  readonly isKey: boolean;
  /** Whether a value that is too large is skipped instead of rejected. */
  readonly optional: boolean;
  keep: boolean;
}

type Expectation = 'value' | 'firstKey' | 'key' | 'colon' | 'firstElement' | 'separator' | 'nothing';

/** The limits of one document. */
export interface ScanLimits {
  /** The size of a kept value. */
  readonly valueBytes: number;
  /** The number of fields of an entered object. */
  readonly fields: number;
}

/** The levels of a kept value in which an error is located; a value may have a million. */
const LOCATED_LEVELS = 20;

/**
 * Scans JSON that arrives in chunks, and returns values as they complete. It holds at most one value at a time.
 * `treat` selects the treatment of each value.
 */
export class JsonScanner {
  private readonly treat: (path: JsonPath, kind: ValueKind) => Treatment;
  private readonly limits: ScanLimits;
  private readonly stack: Container[] = [];
  private readonly path: (string | number)[] = [];
  private expect: Expectation = 'value';
  private rest: Buffer = Buffer.alloc(0);
  /** Offset in the input of the first byte of `rest`. */
  private offset = 0;
  private running: RunningValue | undefined;
  private readonly scanner = new ValueScanner();
  /** The position in `rest` up to which the running value is scanned. */
  private scanned = 0;

  constructor(treat: (path: JsonPath, kind: ValueKind) => Treatment, limits: ScanLimits) {
    this.treat = treat;
    this.limits = limits;
  }

  /**
   * Scans the next chunk of the input, and returns the values that it completes.
   * @throws JsonError
   */
  push(chunk: Uint8Array): ScannedValue[] {
    const view = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const given = this.rest.length === 0 ? view : Buffer.concat([this.rest, view]);
    const bytes = given.subarray(0, wholeCharacters(given));
    const found: ScannedValue[] = [];
    let at = this.scanned;
    while (at < bytes.length) {
      at = this.running === undefined ? this.scanStructure(bytes, at) : this.scanValue(bytes, at, found);
    }
    this.retain(given, at);
    return found;
  }

  /**
   * Ends the input.
   * @throws JsonError if the input is incomplete
   */
  end(): void {
    if (this.expect !== 'nothing') throw this.error('unexpected end of JSON input');
    if (this.rest.length > 0) throw this.error('unexpected data after the end of the document');
  }

  /** The offset in the input of the value that is being scanned, if it is not entered. */
  get valueStart(): number | undefined {
    return this.running?.start;
  }

  /** Retains only the bytes that the next chunk completes: those of a character, or of a kept value from its start. */
  private retain(bytes: Buffer, at: number): void {
    const running = this.running;
    if (running !== undefined) this.checkSize(running, this.offset + at);
    const from = running?.keep ? running.start - this.offset : at;
    this.rest = from >= bytes.length ? Buffer.alloc(0) : Buffer.from(bytes.subarray(from));
    this.offset += from;
    this.scanned = at - from;
  }

  /** Rejects, or stops keeping, a value that exceeds the maximum size at `end`. */
  private checkSize(running: RunningValue, end: number): void {
    const { valueBytes } = this.limits;
    if (!running.keep || end - running.start <= valueBytes) return;
    if (!running.optional) throw this.error(`the value exceeds ${valueBytes} bytes`);
    running.keep = false;
  }

  /** Processes one byte between values. */
  private scanStructure(bytes: Buffer, at: number): number {
    const byte = bytes[at] ?? 0;
    if (isSpace(byte)) return at + 1;
    switch (this.expect) {
      case 'nothing':
        throw this.error('unexpected data after the end of the document');
      case 'firstKey':
        return byte === CLOSE_BRACE ? this.close(at) : this.beginKey(bytes, at);
      case 'key':
        return this.beginKey(bytes, at);
      case 'colon':
        return this.colon(byte, at);
      case 'separator':
        return this.separator(byte, at);
      case 'firstElement':
        return byte === CLOSE_BRACKET ? this.close(at) : this.beginValue(byte, at);
      case 'value':
        return this.beginValue(byte, at);
    }
  }

  private beginKey(bytes: Buffer, at: number): number {
    if (bytes[at] !== QUOTE) throw this.unexpected(bytes[at] ?? 0, 'a field name in double quotes');
    this.start('string', at, 'keep', true);
    return at;
  }

  private colon(byte: number, at: number): number {
    if (byte !== COLON) throw this.unexpected(byte, '":"');
    this.expect = 'value';
    return at + 1;
  }

  private separator(byte: number, at: number): number {
    const container = this.stack.at(-1);
    if (byte === (container?.array ? CLOSE_BRACKET : CLOSE_BRACE)) return this.close(at);
    if (byte !== COMMA) throw this.unexpected(byte, container?.array ? '"," or "]"' : '"," or "}"');
    this.expect = container?.array ? 'value' : 'key';
    return at + 1;
  }

  private beginValue(byte: number, at: number): number {
    const container = this.stack.at(-1);
    if (container?.array) this.path[this.path.length - 1] = container.index++;
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte === COLON)
      throw this.unexpected(byte, 'a value');
    const kind = valueKind(byte);
    const treatment = this.treat(this.path, kind);
    if (treatment !== 'enter' || (kind !== 'object' && kind !== 'array')) {
      this.start(kind, at, treatment, false);
      return at;
    }
    this.stack.push({ array: kind === 'array', keys: new Set(), index: 0 });
    this.path.push(0);
    this.expect = kind === 'array' ? 'firstElement' : 'firstKey';
    return at + 1;
  }

  private close(at: number): number {
    this.stack.pop();
    this.path.pop();
    this.expect = this.stack.length === 0 ? 'nothing' : 'separator';
    return at + 1;
  }

  private start(kind: ValueKind, at: number, treatment: Treatment, isKey: boolean): void {
    const keep = treatment !== 'skip';
    const optional = treatment === 'glance';
    this.scanner.begin();
    this.running = { kind, start: this.offset + at, isKey, optional, keep };
  }

  /** Processes bytes inside a value that is not entered. */
  private scanValue(bytes: Buffer, at: number, found: ScannedValue[]): number {
    const running = this.running;
    if (running === undefined) return at;
    const next = this.advance(bytes, at);
    if (!this.scanner.done) return next;
    this.running = undefined;
    const end = this.offset + next;
    this.checkSize(running, end);
    const text = running.keep ? bytes.toString('utf8', running.start - this.offset, next) : '';
    if (running.isKey) this.enterKey(text);
    else {
      this.expect = this.stack.length === 0 ? 'nothing' : 'separator';
      const { names } = this.scanner;
      found.push({ path: [...this.path], kind: running.kind, start: running.start, end, names, text });
    }
    return next;
  }

  private advance(bytes: Buffer, at: number): number {
    try {
      return this.scanner.advance(bytes, at);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw new JsonError([...this.errorPath, ...this.pathInside(bytes, error.message)], error.message);
    }
  }

  /** Finds the path from the running value to its error, if its bytes are kept. */
  private pathInside(bytes: Buffer, message: string): JsonPath {
    const { running, offset } = this;
    if (running === undefined || !running.keep || (running.kind !== 'object' && running.kind !== 'array')) return [];
    try {
      const treat = (path: JsonPath) => (path.length < LOCATED_LEVELS ? 'enter' : 'skip');
      new JsonScanner(treat, this.limits).push(bytes.subarray(running.start - offset));
    } catch (error) {
      if (error instanceof JsonError && error.message === message) return error.path;
    }
    return [];
  }

  private enterKey(text: string): void {
    const key = this.parseKey(text);
    const container = this.stack.at(-1);
    this.path[this.path.length - 1] = key;
    if (container?.keys.has(key)) throw this.error(`duplicate field ${JSON.stringify(key)}`);
    container?.keys.add(key);
    const { fields } = this.limits;
    if (container !== undefined && container.keys.size > fields) throw this.error(`more than ${fields} fields`);
    this.expect = 'colon';
  }

  private parseKey(text: string): string {
    const key: unknown = parseJson(text, this.errorPath);
    if (typeof key !== 'string') throw this.error('expected a string as field name');
    return key;
  }

  private error(message: string): JsonError {
    return new JsonError(this.errorPath, message);
  }

  /** The path for errors: the object's own before its first field has a name. */
  private get errorPath(): JsonPath {
    const container = this.stack.at(-1);
    const nameless = container !== undefined && !container.array && container.keys.size === 0;
    return nameless ? this.path.slice(0, -1) : [...this.path];
  }

  private unexpected(byte: number, expected: string): JsonError {
    return this.error(unexpected(byte, expected));
  }
}

/**
 * Parses the text of a scanned value, with errors that carry its path.
 * @throws JsonError
 */
export function parseJson(text: string, path: JsonPath): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new JsonError([...path], error instanceof Error ? error.message : String(error));
  }
}

/** Formats a path for error texts: `orgs[3].humanUsers[17]`. */
export function formatPath(path: JsonPath): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}

/** Returns an error's message behind its path. */
export function locatedMessage({ path, message }: JsonError): string {
  return path.length === 0 ? message : `${formatPath(path)}: ${message}`;
}
