import { describe, expect, it } from 'vitest';
import { type Figure, figuresTable, speedsPlot } from '../../../tools/bench/figures.ts';

const round = (service: number, limit: number): Figure[] => [
  { title: 'import', unit: 'users/s', service, limit },
  { title: 'cold start', unit: 'ms', service: 4.25, limit: 2 },
];

describe('the table of the benchmark', () => {
  it('has the medians of all rounds, and the least and most of their ratios', () => {
    const table = figuresTable([round(9_000, 10_000), round(1_000, 20_000), round(2_000, 4_000)]);
    expect(table.split('\n').slice(2)).toEqual([
      '| import | 2,000 users/s | 10,000 users/s | 0.50 | 0.05 to 0.90 |',
      '| cold start | 4.3 ms | 2 ms | 2.13 | 2.13 to 2.13 |',
    ]);
  });

  it('has the mean of both middle values of an even number of rounds', () => {
    const [, , row] = figuresTable([round(10, 100), round(40, 100)]).split('\n');
    expect(row).toBe('| import | 25 users/s | 100 users/s | 0.25 | 0.10 to 0.40 |');
  });
});

describe('the plot of the benchmark', () => {
  it('has a bar for each speed, relative to its limit, with the spread of the rounds', () => {
    const svg = speedsPlot([round(9_000, 10_000), round(1_000, 20_000), round(2_000, 4_000)]);
    expect(svg.match(/<rect [^>]+>/g)).toEqual(['<rect x="230" y="5" width="170.0" height="12" fill="#5b8def"/>']);
    expect(svg).toContain('<path d="M247.0 11H536.0" ');
    expect(svg).toContain('>import</text>');
    expect(svg).not.toContain('cold start');
  });

  it('has room for a speed above its limit', () => {
    expect(speedsPlot([round(200, 100)])).toContain(' width="340.0" ');
  });
});
