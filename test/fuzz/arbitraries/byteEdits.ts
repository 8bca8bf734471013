import fc from 'fast-check';

/** The ways to damage bytes at a position. */
const damages = {
  flip: (bytes: Buffer, at: number, value: number) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ (1 << (value % 8));
    return copy;
  },
  set: (bytes: Buffer, at: number, value: number) => {
    const copy = Buffer.from(bytes);
    copy[at] = value;
    return copy;
  },
  insert: (bytes: Buffer, at: number, value: number) => spliced(bytes, at, at, Buffer.of(value)),
  remove: (bytes: Buffer, at: number, value: number) => spliced(bytes, at, at + value, Buffer.of()),
  repeat: (bytes: Buffer, at: number, value: number) => spliced(bytes, at, at, bytes.subarray(at, at + value)),
  truncate: (bytes: Buffer, at: number) => bytes.subarray(0, at),
  lineEnd: (bytes: Buffer, at: number, value: number) =>
    spliced(bytes, at, at, Buffer.from(['\r\n', '\n', '\r', '\r\n ', '\0', ':', ' '][value % 7] ?? '')),
} as const;

function spliced(bytes: Buffer, from: number, to: number, middle: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, from), middle, bytes.subarray(to)]);
}

const names: readonly (keyof typeof damages)[] = ['flip', 'set', 'insert', 'remove', 'repeat', 'truncate', 'lineEnd'];

const anyDamage = fc.record({ name: fc.constantFrom(...names), at: fc.nat(), value: fc.nat(255) });

/** Some damages to unknown bytes. */
export const someDamage: fc.Arbitrary<(bytes: Buffer) => Buffer> = fc
  .array(anyDamage, { minLength: 1, maxLength: 4 })
  .map(
    (all) => (bytes) =>
      all.reduce<Buffer>((sum, { name, at, value }) => damages[name](sum, at % (sum.length + 1), value), bytes),
  );

/** Returns bytes unchanged, except for one in `n`. */
export function rarely(n: number, damage: typeof someDamage): typeof someDamage {
  return fc.oneof(
    { weight: n - 1, arbitrary: fc.constant((bytes: Buffer) => bytes) },
    { weight: 1, arbitrary: damage },
  );
}
