import { describe, expect, it } from 'vitest';
import { drawBarPlot } from '../../../../tools/plot/barPlot.ts';
import { type Element, parseXml } from '../../../support/documents/xml.ts';

const svg = parseXml(
  drawBarPlot({
    title: 'Rates & goals',
    x: 'users/s',
    bars: [
      { name: 'import', median: 50, least: 40, most: 60, goal: 100 },
      { name: 'export', median: 25, least: 25, most: 25 },
    ],
  }),
);

function all(element: Element, name: string): Element[] {
  return element.children.flatMap((child) => [...(child.name === name ? [child] : []), ...all(child, name)]);
}

describe('drawBarPlot', () => {
  it('draws bars whose widths are in proportion to their medians', () => {
    const [first = 0, second = 0] = all(svg, 'rect').map(({ attributes }) => Number(attributes.width));
    expect(first).toBeGreaterThan(0);
    expect(first / second).toBeCloseTo(2, 1);
  });

  it('marks a goal only where there is one, at its place on the axis', () => {
    const marks = all(svg, 'path').filter(({ attributes: { d = '' } }) => /V/.test(d) && !/V96$/.test(d));
    expect(marks).toHaveLength(1);
    const [bar] = all(svg, 'rect');
    const start = Number(bar?.attributes.x);
    const [, at = ''] = /^M([\d.]+) /.exec(marks[0]?.attributes.d ?? '') ?? [];
    expect((Number(at) - start) / Number(bar?.attributes.width)).toBeCloseTo(2, 1);
  });

  it('escapes its title', () => {
    expect(all(svg, 'title')).toHaveLength(1);
    expect(drawBarPlot({ title: 'a < b', x: '', bars: [] })).toContain('<title>a &lt; b</title>');
  });
});
