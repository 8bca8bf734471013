import { describe, expect, it } from 'vitest';
import { type Figure, ratioFigure } from '../../../bench/measure.ts';
import { fails, judge, valueText } from '../../../bench/verdict.ts';

const of = (median: number) => ({ median, least: median, most: median });
const accepted = { bound: { least: 0.3 }, reason: 'of a reason' };
const ratio = ratioFigure('ratio', 'of the raw loop', { least: 0.7 });
const excused = ratioFigure('ratio', 'of the raw loop', { least: 0.7 }, accepted);
const absolute: Figure = { name: 'rate', title: 'rate', unit: 'users/s', goal: { least: 100 } };
const limit = ratioFigure('growth', 'growth', { most: 1.1 });

describe('judge', () => {
  it.each([
    { figure: ratio, median: 0.7, verdict: 'reached', fails: false },
    { figure: ratio, median: 0.69, verdict: 'missed', fails: true },
    { figure: excused, median: 0.7, verdict: 'reached', fails: false },
    { figure: excused, median: 0.3, verdict: 'accepted', fails: false },
    { figure: excused, median: 0.29, verdict: 'missed', fails: true },
    { figure: limit, median: 1.1, verdict: 'reached', fails: false },
    { figure: limit, median: 1.11, verdict: 'missed', fails: true },
    { figure: absolute, median: 99, verdict: 'missed', fails: false },
  ])('calls $median of $figure.title $verdict, and fails only on guarded figures', (row) => {
    expect(judge(row.figure, of(row.median))).toBe(row.verdict);
    expect(fails(row.figure, of(row.median))).toBe(row.fails);
  });

  it('has no verdict without a goal', () => {
    const { goal: _goal, ...free } = absolute;
    expect(judge(free, of(1))).toBe('none');
  });
});

describe('valueText', () => {
  it('writes a ratio without a unit, and a rate with it', () => {
    expect(valueText({ unit: 'times' }, 0.705)).toMatch(/^0\.7[01]$/);
    expect(valueText({ unit: 'users/s' }, 12_345.6)).toBe('12,346 users/s');
    expect(valueText({ unit: 'ms' }, 4.405)).toMatch(/^4\.4[01] ms$/);
  });
});
