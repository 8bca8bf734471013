import { unzipSync } from 'fflate';
import { expect, it } from 'vitest';
import { archive } from '../../../tools/build/buildFunction.ts';

const DATE_OFFSET = 10;
const FIRST_OF_JANUARY_1980 = 0x0021_0000;

it('an archive has the same bytes in whatever order its files are given, with one date', () => {
  const [a, b] = [new Uint8Array(Buffer.from('{}')), new Uint8Array(100_000)];
  const made = archive({ a, b });
  expect(unzipSync(made)).toEqual({ a, b });
  expect(archive({ b, a })).toEqual(made);
  expect(Buffer.from(made).readUInt32LE(DATE_OFFSET)).toBe(FIRST_OF_JANUARY_1980);
});
