import { describe, expect, it } from 'vitest';
import { quantile } from '../../bench/clients/keepAliveClient.ts';
import { createContext } from '../../bench/context.ts';
import { type Figure, measureRounds, ratioFigure } from '../../bench/measure.ts';
import { fails, judge, summarise, valueText } from '../../bench/verdict.ts';

const scenario = () => {
  let number = 0;
  return { prepare: async () => async () => ({ number: number++ }) };
};

describe('measureRounds', () => {
  it('repeats a short round five times, or as often as the scenario or the caller says', async () => {
    await using resources = new AsyncDisposableStack();
    const bench = await createContext(1, resources);
    expect(await measureRounds(scenario(), bench)).toEqual([0, 1, 2, 3, 4].map((number) => ({ number })));
    expect(await measureRounds({ ...scenario(), rounds: 1 }, bench)).toEqual([{ number: 0 }]);
    expect(await measureRounds({ ...scenario(), rounds: 1 }, bench, 2)).toHaveLength(2);
  });

  it('returns the reason of a scenario that cannot run', async () => {
    await using resources = new AsyncDisposableStack();
    const bench = await createContext(1, resources);
    const missing = { missing: 'no emulator' };
    expect(await measureRounds({ prepare: async () => missing }, bench)).toBe(missing);
  });
});

describe('summarise', () => {
  it('has the median, the least and the most, whatever the order of the rounds', () => {
    const rounds = [{ rate: 30 }, { rate: 10 }, { rate: 20 }];
    expect(summarise(rounds, 'rate')).toEqual({ median: 20, least: 10, most: 30 });
  });

  it('takes the mean of both middle values of an even number', () => {
    expect(summarise([{ rate: 1 }, { rate: 4 }], 'rate').median).toBe(2.5);
  });

  it('rejects rounds without the figure', () => {
    expect(() => summarise([{ rate: 1 }, {}], 'rate')).toThrow('a round has no rate');
    expect(() => summarise([], 'rate')).toThrow('a round has no rate');
  });
});

describe('quantile', () => {
  it('orders times by number', () => {
    const times = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(quantile(times, 0.5)).toBe(51);
    expect(quantile(times, 0.99)).toBe(100);
  });
});

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
