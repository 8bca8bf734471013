import { expect, it } from 'vitest';
import { WireReader, WireWriter } from '../../../../shared/store/firestore/wireFormat.ts';

const INITIAL_BYTES = 16;

it.each([0, 1, 127, 128, 16_383, 16_384, 2 ** 32, Number.MAX_SAFE_INTEGER, -1, -70_000, Number.MIN_SAFE_INTEGER])(
  'the integer %i is read as written',
  (value) => {
    const writer = new WireWriter(INITIAL_BYTES);
    writer.integer(1, value);
    const reader = new WireReader(writer.finish());
    expect([reader.varint(), reader.integer()]).toEqual([8, value]);
  },
);

it.each([0.5, Number.NaN, Number.MAX_SAFE_INTEGER + 1])('the number %f is rejected', (value) => {
  expect(() => new WireWriter(INITIAL_BYTES).integer(1, value)).toThrow(RangeError);
});

it.each(['a', 'é', '€', '😀'])('texts of %s are read as written, whatever their length', (character) => {
  for (const length of [0, 1, 31, 32, 33, 127, 128, 5_000]) {
    const writer = new WireWriter(INITIAL_BYTES);
    writer.text(2, character.repeat(length));
    writer.text(1, 'first');
    const bytes = writer.finish();
    const reader = new WireReader(bytes);
    expect([reader.tag(bytes.length), reader.text()]).toEqual([10, 'first']);
    expect([reader.tag(bytes.length), reader.text()]).toEqual([18, character.repeat(length)]);
    expect(reader.tag(bytes.length)).toBe(0);
  }
});

it('a truncated message is rejected', () => {
  expect(() => new WireReader(Buffer.of(10, 5, 97)).skip(10)).toThrow(RangeError);
  expect(() => new WireReader(Buffer.of(128)).varint()).toThrow(RangeError);
  expect(() => new WireReader(Buffer.of(5, 97)).text()).toThrow(RangeError);
});
