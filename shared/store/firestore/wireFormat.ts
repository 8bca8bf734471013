// The wire format of Protocol Buffers, limited to the types of fields that Firestore's messages contain.

const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;
const FIXED_32 = 5;

const MAX_VARINT_BYTES = 10;
/** Up to this length, a loop copies an ASCII text faster than Buffer's native functions do. */
const SHORT_TEXT = 32;

export function lengthTag(field: number): number {
  return field * 8 + BYTES;
}

export function varintTag(field: number): number {
  return field * 8 + VARINT;
}

/**
 * Writes a message backwards, from its last byte to its first. The reason is that the length of a nested message
 * precedes the message, but is known only afterwards. So callers write the last field first.
 */
export class WireWriter {
  private buffer: Buffer;
  private start: number;

  /** @param bytes the expected size of the message */
  constructor(bytes: number) {
    this.buffer = Buffer.allocUnsafeSlow(bytes);
    this.start = bytes;
  }

  get size(): number {
    return this.buffer.length - this.start;
  }

  text(field: number, value: string): void {
    const { size } = this;
    if (!this.shortAscii(value)) {
      const length = Buffer.byteLength(value);
      this.reserve(length);
      this.start -= length;
      this.buffer.write(value, this.start, length);
    }
    this.message(field, size);
  }

  integer(field: number, value: number): void {
    if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not an integer that can be encoded`);
    if (value < 0) this.negative(value);
    else this.varint(value);
    this.varint(varintTag(field));
  }

  /**
   * Completes a nested message after its fields were written: writes the header that precedes them.
   * @param sizeBefore the value of `size` before the fields were written
   */
  message(field: number, sizeBefore: number): void {
    this.varint(this.size - sizeBefore);
    this.varint(lengthTag(field));
  }

  finish(): Buffer {
    return this.buffer.subarray(this.start);
  }

  private shortAscii(value: string): boolean {
    const { length } = value;
    if (length > SHORT_TEXT) return false;
    this.reserve(length);
    const start = this.start - length;
    for (let index = 0; index < length; index++) {
      const unit = value.charCodeAt(index);
      if (unit > 127) return false;
      this.buffer[start + index] = unit;
    }
    this.start = start;
    return true;
  }

  private varint(value: number): void {
    this.reserve(MAX_VARINT_BYTES);
    let bytes = 1;
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) bytes++;
    this.start -= bytes;
    let index = this.start;
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.buffer[index++] = (rest % 128) + 128;
    this.buffer[index] = rest;
  }

  /** Writes a negative integer, as the 64 bits of its two's complement. */
  private negative(value: number): void {
    this.reserve(MAX_VARINT_BYTES);
    this.start -= MAX_VARINT_BYTES;
    let rest = BigInt.asUintN(64, BigInt(value));
    for (let index = 0; index < MAX_VARINT_BYTES; index++, rest >>= 7n)
      this.buffer[this.start + index] = Number(rest & 127n) + (rest > 127n ? 128 : 0);
  }

  private reserve(bytes: number): void {
    if (this.start >= bytes) return;
    const { buffer, size } = this;
    this.buffer = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, size + 2 * bytes));
    buffer.copy(this.buffer, this.buffer.length - size, this.start);
    this.start = this.buffer.length - size;
  }
}

/**
 * Reads a message. Until the message ends, the caller must alternately read a tag and the value of the field with this
 * tag.
 */
export class WireReader {
  private readonly bytes: Buffer;
  private position = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** Reads the length of a text or nested message. Returns the position after its last byte. */
  messageEnd(): number {
    const length = this.varint();
    const end = this.position + length;
    if (end > this.bytes.length) throw new RangeError('a message is truncated');
    return end;
  }

  /** Reads the tag of the next field. Returns 0 at the end of the message. */
  tag(end: number): number {
    return this.position < end ? this.varint() : 0;
  }

  text(): string {
    const end = this.messageEnd();
    const text = this.bytes.toString('utf8', this.position, end);
    this.position = end;
    return text;
  }

  integer(): number {
    const start = this.position;
    const value = this.varint();
    if (this.position - start < MAX_VARINT_BYTES) return value;
    let bits = 0n;
    for (const byte of this.bytes.subarray(start, this.position).toReversed()) bits = bits * 128n + BigInt(byte & 127);
    return Number(BigInt.asIntN(64, bits));
  }

  /** Reads an integer from 0 to 2^53, such as a length. */
  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.bytes[this.position++];
      if (byte === undefined) throw new RangeError('a message is truncated');
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  skip(tag: number): void {
    switch (tag % 8) {
      case VARINT:
        this.varint();
        return;
      case FIXED_64:
        this.position += 8;
        return;
      case BYTES:
        this.position = this.messageEnd();
        return;
      case FIXED_32:
        this.position += 4;
        return;
      default:
        throw new RangeError(`a message has a field with the unknown tag ${tag}`);
    }
  }
}
