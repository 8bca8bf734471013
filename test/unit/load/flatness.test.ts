import { describe, expect, it } from 'vitest';
import { measureFlatness, median } from '../../load/support/flatness.ts';

const series = (count: number, value: (index: number) => number) => Array.from({ length: count }, (_, at) => value(at));
const tolerance = { share: 0.1, amount: 10 };

describe('a series', () => {
  it.each([
    ['is constant', () => 100],
    ['warms up in its first third', (at: number) => (at < 30 ? at : 100)],
    ['has peaks', (at: number) => (at % 7 === 0 ? 1_000 : 100)],
    ['shrinks', (at: number) => 1_000 - at],
    ['grows as much as tolerated', (at: number) => (at < 60 ? 100 : 120)],
  ])('is flat that %s', (_name, value) => {
    expect(measureFlatness(series(90, value), tolerance)).toMatchObject({ isFlat: true });
  });

  it.each([
    ['grows steadily', (at: number) => 10 * at],
    ['grows by more than tolerated', (at: number) => (at < 60 ? 100 : 121)],
    ['grows at its end only', (at: number) => (at < 70 ? 100 : 200)],
  ])('is not flat that %s', (_name, value) => {
    expect(measureFlatness(series(90, value), tolerance)).toMatchObject({ isFlat: false });
  });

  it('without thirds is an error', () => {
    expect(() => measureFlatness([1, 2], tolerance)).toThrow('2 values have no thirds');
  });
});

describe('the median', () => {
  it.each([
    [[3, 1, 2], 2],
    [[4, 1, 3, 2], 2.5],
    [[7], 7],
  ])('of %j is %d', (values, expected) => {
    expect(median(values)).toBe(expected);
  });

  it('of nothing is an error', () => {
    expect(() => median([])).toThrow('no median');
  });
});
