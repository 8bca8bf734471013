import { describe, expect, it } from 'vitest';
import { excessOf, remainingMs } from '../../../../functions/import/results/remainingTime.ts';

describe('the remaining time of an import', () => {
  it.each([
    ['its speed so far', 60_000, 250, 1_000, 180_000],
    ['no time if all records are settled', 60_000, 1_000, 1_000, 0],
    ['no time if more records are settled than expected', 60_000, 1_001, 1_000, 0],
    ['nothing in the first seconds', 2_999, 500, 1_000, undefined],
    ['nothing before a hundredth is settled', 60_000, 9, 1_000, undefined],
    ['nothing without records', 60_000, 0, 0, undefined],
  ])('follows from %s', (_what, elapsedMs, records, total, expected) => {
    expect(remainingMs(elapsedMs, { records, total })).toBe(expected);
  });
});

describe('the excess of an import', () => {
  it.each([
    ['above the time until the timeout', 90_001, 60_999, { secondsNeeded: 91, secondsLeft: 60 }],
    ['after the timeout', 1_000, -1, { secondsNeeded: 1, secondsLeft: 0 }],
    ['not if the time suffices', 60_000, 60_000, undefined],
    ['not without a timeout', 60_000, undefined, undefined],
  ])('is stated %s', (_when, needed, left, expected) => {
    expect(excessOf(needed, left)).toEqual(expected);
  });
});
