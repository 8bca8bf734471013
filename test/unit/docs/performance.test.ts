import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { measures, measuresOfMillion } from '../../../bench/measures.ts';
import { MILLION, readResults } from '../../../bench/results.ts';
import { summarise } from '../../../bench/statistics.ts';
import { valueText } from '../../../bench/verdict.ts';
import { parseXml } from '../../support/documents/xml.ts';

const read = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');
const text = read('performance.md');
const results = readResults();

describe('docs/performance.md', () => {
  it.each(measures)('has the figures of $name as they were measured', ({ name, title, figures }) => {
    const result = results.find(({ measure, users }) => measure === name && users !== MILLION);
    expect(text).toContain(`| ${title} | `);
    for (const figure of figures) {
      const summary = summarise(result?.rounds ?? [], figure.name);
      expect(text).toContain(`| ${figure.title} | ${valueText(figure, summary.median)} | `);
    }
  });

  it('has the measures of a million users', () => {
    const ofMillion = results.filter(({ users }) => users === MILLION).map(({ measure }) => measure);
    expect(ofMillion.toSorted()).toEqual([...measuresOfMillion].toSorted());
  });

  it('has no result of a measure that does not exist any more', () => {
    const names = new Set(measures.map(({ name }) => name));
    expect(results.filter(({ measure }) => !names.has(measure))).toEqual([]);
  });

  it('says why a bound is accepted in place of a goal', () => {
    const reasons = measures.flatMap(({ figures }) => figures.flatMap(({ accepted }) => accepted?.reason ?? []));
    for (const reason of reasons) expect(text).toContain(`; ${reason}.`);
  });

  it('shows its plots', () => {
    const shown = [...text.matchAll(/!\[[^\]]+\]\(([\w-]+\.svg)\)/g)].map(([, name = '']) => name);
    expect(shown).not.toEqual([]);
    for (const name of shown) expect(parseXml(read(name)).name).toBe('svg');
  });
});
