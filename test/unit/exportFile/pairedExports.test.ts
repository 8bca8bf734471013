import { expect, it } from 'vitest';
import { readPaired } from '../../../shared/exportFile/pairedExports.ts';
import { organisation } from '../../support/fixtures/organisations.ts';
import { provedFile } from '../../support/fixtures/provedFile.ts';

it('records that wait for an equal record of the other export are decoded before they fill the memory', async () => {
  const value = 'A'.repeat(60_000);
  const userMetadata = Array.from({ length: 200 }, (_, index) => ({ id: 'ada', key: `key ${index}`, value }));
  let decoded = 0;
  const decodedBeforeEnd: number[] = [];
  const exportOf = async (records: readonly object[]) => {
    const bytes = Buffer.from(JSON.stringify(await provedFile([organisation('a', { userMetadata: records })])));
    const middle = bytes.length - 1_000_000;
    async function* open() {
      yield bytes.subarray(0, middle);
      decodedBeforeEnd.push(decoded);
      yield bytes.subarray(middle);
    }
    const visitor = { add: () => void decoded++ };
    return { open, onItems: () => {}, isSelected: () => true, visitor };
  };
  let equal = 0;
  const pairing = { isPaired: () => true, onEqual: () => void equal++ };
  const exports = [await exportOf(userMetadata), await exportOf(userMetadata.toReversed())] as const;
  const read = await readPaired(exports, pairing, new AbortController().signal);
  expect(Math.min(...decodedBeforeEnd)).toBeGreaterThan(0);
  expect(equal + decoded / 2).toBe(201);
  expect(read.map(({ tally }) => tally.counts)).toEqual(Array(2).fill({ orgs: 1, org: 1, userMetadata: 200 }));
});
