import { describe, expect, it } from 'vitest';
import { quantile } from '../../../bench/clients/keepAliveClient.ts';
import { summarise } from '../../../bench/statistics.ts';

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
