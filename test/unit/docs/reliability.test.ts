import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readReport, reportRows } from '../../faults/support/report.ts';

const rows = readReport(readFileSync(new URL('../../../docs/reliability.md', import.meta.url), 'utf8'));

describe('docs/reliability.md', () => {
  it('has the faults that the tests try, each with its outcome', () => {
    const expected = reportRows.map(({ fault, place, outcome }) => [fault, place, outcome]);
    expect(rows.map(([fault, place, , , outcome]) => [fault, place, outcome])).toEqual(expected);
  });

  it('has a run of all of them, with a thousand processes killed', () => {
    const times = rows.map(([, , figure = '']) => Number(figure.replaceAll(',', '')));
    for (const figure of times) expect(figure).toBeGreaterThan(0);
    const killed = reportRows.map(({ name }, index) => (name === 'killed' ? (times[index] ?? 0) : 0));
    expect(killed.reduce((sum, figure) => sum + figure, 0)).toBeGreaterThanOrEqual(1_000);
  });
});
