import { describe, expect, it } from 'vitest';
import { ticks } from '../../../../tools/plot/ticks.ts';

describe('ticks', () => {
  it.each([
    [
      [900, 8],
      [0, 200, 400, 600, 800, 1_000],
    ],
    [
      [60, 8],
      [0, 10, 20, 30, 40, 50, 60],
    ],
    [
      [0.3, 3],
      [0, 0.1, 0.2, 0.3],
    ],
    [
      [1, 5],
      [0, 0.2, 0.4, 0.6, 0.8, 1],
    ],
    [
      [369, 5],
      [0, 100, 200, 300, 400],
    ],
    [
      [1e9, 4],
      [0, 5e8, 1e9],
    ],
  ] as const)('of %j are round, and reach the largest value', ([max, count], expected) => {
    expect(ticks(max, count)).toEqual(expected);
  });

  it.each([0, Number.NaN, Number.POSITIVE_INFINITY])('of %d are those of a plot without values', (max) => {
    expect(ticks(max, 5)).toEqual([0, 1]);
  });
});
