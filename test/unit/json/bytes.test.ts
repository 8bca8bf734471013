import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WhiteSpaceRun } from '../../../shared/json/bytes.ts';

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
