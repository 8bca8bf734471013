import { isUtf8 } from 'node:buffer';
import { isSpace, type ValueKind, ValueScanner, valueKind } from './valueScanner.ts';

/** Where a value stands: the keys and indexes that lead to it from the root. */
export type JsonPath = readonly (string | number)[];

/**
 * What to do with a value: go into it, keep its text, only find out where it begins and ends, or keep its text for a look
 * at it unless it is too large to be kept.
 */
export type Treatment = 'enter' | 'keep' | 'skip' | 'glance';

/** A value that was found; `start` and `end` are byte offsets in the input, `text` is there when it was kept. */
export interface ScannedValue {
  readonly path: JsonPath;
  readonly kind: ValueKind;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The input is not JSON, or not of the form that was expected. */
export class JsonError extends Error {
  override readonly name = 'JsonFault';
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

/** A value that is being scanned. */
interface RunningValue {
  readonly scanner: ValueScanner;
  readonly kind: ValueKind;
  readonly start: number;
  readonly isKey: boolean;
  /** Whether it is no fault when the value is too large to be kept. */
  readonly optional: boolean;
  keep: boolean;
}

type Expectation = 'value' | 'firstKey' | 'key' | 'colon' | 'firstElement' | 'separator' | 'nothing';

/**
 * Reads JSON that arrives in pieces and hands out the values on the way, never holding more than one of them.
 * `treat` decides at each value whether to go into it; kept values may have `maxValueBytes` at most.
 */
export class JsonScanner {
  private readonly treat: (path: JsonPath, kind: ValueKind) => Treatment;
  private readonly maxValueBytes: number;
  private readonly stack: Container[] = [];
  private readonly path: (string | number)[] = [];
  private expect: Expectation = 'value';
  private rest: Buffer = Buffer.alloc(0);
  /** Offset in the input of the first byte of `rest`. */
  private offset = 0;
  private running: RunningValue | undefined;
  /** Where in `rest` the running value has been scanned to. */
  private scanned = 0;

  constructor(treat: (path: JsonPath, kind: ValueKind) => Treatment, maxValueBytes: number) {
    this.treat = treat;
    this.maxValueBytes = maxValueBytes;
  }

  /**
   * Takes the next piece of the input and returns the values completed by it.
   * @throws JsonFault
   */
  push(chunk: Uint8Array): ScannedValue[] {
    const piece = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const bytes = this.rest.length === 0 ? piece : Buffer.concat([this.rest, piece]);
    const found: ScannedValue[] = [];
    let at = this.scanned;
    while (at < bytes.length) {
      at = this.running === undefined ? this.structure(bytes, at) : this.value(bytes, at, found);
    }
    this.retain(bytes, at);
    return found;
  }

  /**
   * Says that there is no more input.
   * @throws JsonFault when the input ended too early
   */
  end(): void {
    if (this.expect !== 'nothing') throw this.fault('unexpected end of JSON input');
  }

  /** Keeps what the next piece is needed for: the bytes of a kept value from its start, nothing else. */
  private retain(bytes: Buffer, at: number): void {
    const running = this.running;
    if (running !== undefined) this.checkSize(running, this.offset + at);
    const from = running?.keep ? running.start - this.offset : at;
    this.rest = from >= bytes.length ? Buffer.alloc(0) : Buffer.from(bytes.subarray(from));
    this.offset += from;
    this.scanned = at - from;
  }

  /** A kept value that reaches up to `end`, or farther, must not be larger than may be kept. */
  private checkSize(running: RunningValue, end: number): void {
    if (!running.keep || end - running.start <= this.maxValueBytes) return;
    if (!running.optional) throw this.fault(`the value exceeds ${this.maxValueBytes} bytes`);
    running.keep = false;
  }

  /** One byte between values. */
  private structure(bytes: Buffer, at: number): number {
    const byte = bytes[at] ?? 0;
    if (isSpace(byte)) return at + 1;
    switch (this.expect) {
      case 'nothing':
        throw this.fault('unexpected data after the end of the document');
      case 'firstKey':
        return byte === 0x7d ? this.close(at) : this.beginKey(bytes, at);
      case 'key':
        return this.beginKey(bytes, at);
      case 'colon':
        return this.colon(byte, at);
      case 'separator':
        return this.separator(byte, at);
      case 'firstElement':
        return byte === 0x5d ? this.close(at) : this.beginValue(byte, at);
      case 'value':
        return this.beginValue(byte, at);
    }
  }

  private beginKey(bytes: Buffer, at: number): number {
    if (bytes[at] !== 0x22) throw this.unexpected(bytes[at] ?? 0, 'a field name in double quotes');
    this.start('string', at, 'keep', true);
    return at;
  }

  private colon(byte: number, at: number): number {
    if (byte !== 0x3a) throw this.unexpected(byte, '":"');
    this.expect = 'value';
    return at + 1;
  }

  private separator(byte: number, at: number): number {
    const container = this.stack.at(-1);
    if (byte === (container?.array ? 0x5d : 0x7d)) return this.close(at);
    if (byte !== 0x2c) throw this.unexpected(byte, container?.array ? '"," or "]"' : '"," or "}"');
    this.expect = container?.array ? 'value' : 'key';
    return at + 1;
  }

  private beginValue(byte: number, at: number): number {
    const container = this.stack.at(-1);
    if (container?.array) this.path[this.path.length - 1] = container.index++;
    if (byte === 0x2c || byte === 0x7d || byte === 0x5d || byte === 0x3a) throw this.unexpected(byte, 'a value');
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
    const [keep, optional] = [treatment !== 'skip', treatment === 'glance'];
    this.running = { scanner: new ValueScanner(kind), kind, start: this.offset + at, isKey, optional, keep };
  }

  /** Bytes inside a value that is not gone into. */
  private value(bytes: Buffer, at: number, found: ScannedValue[]): number {
    const running = this.running;
    if (running === undefined) return at;
    const next = running.scanner.advance(bytes, at);
    if (!running.scanner.done) return next;
    this.running = undefined;
    const end = this.offset + next;
    this.checkSize(running, end);
    const text = running.keep ? this.text(bytes.subarray(running.start - this.offset, next)) : '';
    if (running.isKey) this.enterKey(text);
    else {
      this.expect = this.stack.length === 0 ? 'nothing' : 'separator';
      found.push({ path: [...this.path], kind: running.kind, start: running.start, end, text });
    }
    return next;
  }

  private enterKey(text: string): void {
    const key = this.parseKey(text);
    const container = this.stack.at(-1);
    this.path[this.path.length - 1] = key;
    if (container?.keys.has(key)) throw this.fault(`duplicate field ${JSON.stringify(key)}`);
    container?.keys.add(key);
    this.expect = 'colon';
  }

  private parseKey(text: string): string {
    const key: unknown = parseJson(text, this.place);
    if (typeof key !== 'string') throw this.fault('expected a string as field name');
    return key;
  }

  private text(bytes: Buffer): string {
    if (!isUtf8(bytes)) throw this.fault('invalid UTF-8');
    return bytes.toString('utf8');
  }

  private fault(message: string): JsonError {
    return new JsonError(this.place, message);
  }

  /** Where a fault is: before an object's first field has a name, that is the object itself. */
  private get place(): JsonPath {
    const container = this.stack.at(-1);
    const nameless = container !== undefined && !container.array && container.keys.size === 0;
    return nameless ? this.path.slice(0, -1) : [...this.path];
  }

  private unexpected(byte: number, wanted: string): JsonError {
    const character = byte < 0x80 ? JSON.stringify(String.fromCharCode(byte)) : 'non-ASCII byte';
    return this.fault(`unexpected ${character}, expected ${wanted}`);
  }
}

/**
 * JSON.parse whose error says where the value stands. Half a surrogate pair is refused too: no database can keep it.
 * @throws JsonFault
 */
export function parseJson(text: string, path: JsonPath): unknown {
  if (hasUnpairedSurrogate(text)) throw new JsonError([...path], 'unpaired surrogate in an escape');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new JsonError([...path], error instanceof Error ? error.message : String(error));
  }
}

const HIGH_ALONE = /\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])/;
const LOW_ALONE = /(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]/;

/** Whether an escape in JSON stands for a surrogate without its other half. */
function hasUnpairedSurrogate(text: string): boolean {
  if (!text.includes('\\ud') && !text.includes('\\uD')) return false;
  const escapes = text.replaceAll('\\\\', ' ');
  return HIGH_ALONE.test(escapes) || LOW_ALONE.test(escapes);
}

/** A path as it is written in errors: `orgs[3].humanUsers[17]`. */
export function formatPath(path: JsonPath): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}
