import { expect, it } from 'vitest';
import { creationMs } from '../../../../shared/store/firestore/recommendedRate.ts';

it.each([
  [0, 0],
  [1_000, 2_000],
  // 150,000 in the first five minutes, 225,000 in the next ones.
  [150_000, 300_000],
  [150_750, 301_000],
  [375_000, 600_000],
])('%i new documents take %i ms', (documents, milliseconds) => {
  expect(creationMs(documents)).toBe(milliseconds);
});

it('a million people take 18 minutes, and 79 with a grant, a link and two metadata entries each', () => {
  const minutes = (counts: readonly number[]) => Math.round(counts.map(creationMs).reduce((a, b) => a + b) / 60_000);
  const million = 1_000_000;
  expect(minutes([million])).toBe(18);
  expect(minutes([million, million, million, 2 * million])).toBe(79);
});
