import { unzipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { archive } from '../../../build/buildFunction.ts';

const content = (text: string) => new Uint8Array(Buffer.from(text));
const DATE_OFFSET = 10;
const FIRST_OF_JANUARY_1980 = 0x0021_0000;

describe('an archive', () => {
  it('holds the files', () => {
    const files = { 'a.json': content('{}'), 'b.js': content('b'.repeat(100_000)) };
    expect(unzipSync(archive(files))).toEqual(files);
  });

  it('is the same whatever the order of the files', () => {
    const [a, b] = [content('a'), content('b')];
    expect(archive({ b, a })).toEqual(archive({ a, b }));
  });

  it('has one date, not that of its making', () => {
    expect(Buffer.from(archive({ a: content('a') })).readUInt32LE(DATE_OFFSET)).toBe(FIRST_OF_JANUARY_1980);
  });
});
