import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { rarely, someDamage } from './byteEdits.ts';
import { editedJson } from './jsonEdits.ts';
import { anyString, anyTree, repeats } from './junk.ts';

/** Writes a number as protobuf does: seven bits a byte, the lowest first. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}

const text = anyString.map((value) => Buffer.from(value));

/** A field of protobuf: the message's own or another, with any type and length. */
function protoField(userIds: readonly string[]): fc.Arbitrary<Buffer> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...userIds).map((id) => lengthDelimited(1, Buffer.from(id))) },
    { weight: 2, arbitrary: text.map((value) => lengthDelimited(1, value)) },
    { weight: 2, arbitrary: fc.tuple(fc.nat(40), text).map(([number, value]) => lengthDelimited(number, value)) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.nat(300), fc.nat(7), fc.nat())
        .map(([number, type, value]) => Buffer.concat([varint(number * 8 + type), varint(value)])),
    },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: repeats.map((n) => Buffer.alloc(Math.min(n, 70_000), 0x0b)) },
  );
}

function lengthDelimited(number: number, value: Buffer): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(value.length), value]);
}

/** Messages in protobuf's binary form, and near it. */
export function protoMessages(userIds: readonly string[]): fc.Arbitrary<Buffer> {
  return fc
    .tuple(fc.array(protoField(userIds), { maxLength: 4 }), rarely(5, someDamage))
    .map(([fields, damage]) => damage(Buffer.concat(fields)));
}

/** Messages in protobuf's JSON form, and near it. */
export function jsonMessages(userIds: readonly string[]): fc.Arbitrary<Buffer> {
  const bases = [
    ...userIds.slice(0, 50).map((userId) => ({ userId })),
    { user_id: 'x', domainQuery: { domain: 'a', includeWithoutDomain: true } },
  ];
  return fc
    .oneof(
      { weight: 5, arbitrary: editedJson(bases, 2) },
      { weight: 1, arbitrary: anyTree.map(({ text: raw }) => raw) },
    )
    .map((json) => Buffer.from(json));
}

/** A frame's length: the right one, or another. */
const lengthError = fc.oneof(
  { weight: 12, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(-1, 1, 100, 2 ** 31, 2 ** 32) },
);

const flags = fc.oneof(
  { weight: 12, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.constantFrom(1, 2, 0x80, 0x81, 0xff) },
);

/** gRPC's frames around messages: mostly one, with flags and lengths that may be wrong, and trailers. */
export function frames(messages: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  const frame = fc.tuple(messages, flags, lengthError, fc.boolean()).map(([message, flag, error, isPacked]) => {
    const data = flag === 1 && isPacked ? gzipSync(message) : message;
    const head = Buffer.alloc(5);
    head.writeUInt8(flag);
    head.writeUInt32BE((data.length + error + 2 ** 32) % 2 ** 32, 1);
    return Buffer.concat([head, data]);
  });
  const count = fc.oneof(
    { weight: 10, arbitrary: fc.tuple(frame) },
    { weight: 1, arbitrary: fc.array(frame, { maxLength: 3 }) },
  );
  return fc.tuple(count, rarely(8, someDamage)).map(([all, damage]) => damage(Buffer.concat(all)));
}
