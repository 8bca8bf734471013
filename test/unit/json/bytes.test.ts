import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WhiteSpaceRun, wholeCharacters } from '../../../shared/json/bytes.ts';

const longestOf = (chunks: readonly string[]) => {
  const run = new WhiteSpaceRun();
  return Math.max(0, ...chunks.map((chunk) => run.add(Buffer.from(chunk))));
};

describe('uninterrupted white space', () => {
  it('is counted across chunks', () => {
    expect(longestOf(['{"a":1', '   ', '\t\r\n', ' }'])).toBe(7);
    expect(longestOf(['{"a":1  ', '', '  ,  "b":2}'])).toBe(4);
  });

  it('is as long as the longest run if each byte is a chunk', () => {
    const text = fc.string({ unit: fc.constantFrom(' ', '\n', 'x', '"') });
    const property = fc.property(text, (all) => {
      const expected = Math.max(0, ...[...all.matchAll(/\s+/g)].map(([run]) => run.length));
      expect(longestOf([...all])).toBe(expected);
    });
    fc.assert(property);
  });
});

describe('the whole characters of some bytes', () => {
  it.each(['x', 'é', '–', '’', '\u0800', '😀'])('end before a part of %s', (character) => {
    const bytes = Buffer.from(`x${character}`);
    for (let length = 1; length <= bytes.length; length++)
      expect(wholeCharacters(bytes.subarray(0, length))).toBe(length < bytes.length ? 1 : bytes.length);
  });
});
