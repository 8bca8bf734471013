import { describe, expect, it } from 'vitest';
import { drawBarPlot, drawLinePlot, type LinePlot, ticks } from '../../../tools/plots.ts';
import { type Element, parseXml } from '../../support/documents/xml.ts';

const plot: LinePlot = {
  title: 'Memory & "more" < 1',
  x: 'time (s)',
  panels: [
    {
      y: 'memory (MB)',
      series: [
        {
          name: 'RSS',
          points: [
            [0, 0],
            [50, 200],
            [100, 100],
          ],
        },
      ],
    },
    {
      y: 'descriptors',
      series: [
        { name: 'files', points: [[0, 10]] },
        { name: 'sockets', points: [] },
      ],
    },
  ],
};

function all(element: Element, name: string): Element[] {
  return element.children.flatMap((child) => [...(child.name === name ? [child] : []), ...all(child, name)]);
}

/** The points of all lines, as they are drawn. */
function lines(svg: Element): number[][][] {
  const drawn = all(svg, 'path').filter(({ attributes }) => attributes.fill === 'none');
  return drawn.map(({ attributes: { d = '' } }) =>
    d
      .slice(1)
      .split('L')
      .map((point) => point.split(' ').map(Number)),
  );
}

describe('a line plot', () => {
  const svg = parseXml(drawLinePlot(plot));

  it('is an SVG document with its title, the titles of its axes, and the names of lines that share a diagram', () => {
    expect(svg).toMatchObject({ name: 'svg', attributes: { xmlns: 'http://www.w3.org/2000/svg' } });
    const texts = [...all(svg, 'text'), ...all(svg, 'tspan')].map(({ text }) => text);
    for (const text of [plot.title, 'time (s)', 'memory (MB)', 'descriptors', 'files', 'sockets', '200', '100']) {
      expect(texts).toContain(text);
    }
    expect(texts).not.toContain('RSS');
  });

  it('draws values in proportion, larger ones higher, and diagrams one below the other', () => {
    const [memory = [], files = []] = lines(svg);
    const [[x0 = 0, y0 = 0] = [], [x1 = 0, y1 = 0] = [], [x2 = 0, y2 = 0] = []] = memory;
    expect([x1 - x0, x2 - x0]).toEqual([(x2 - x0) / 2, x2 - x0]);
    expect(y0 - y1).toBeCloseTo(2 * (y0 - y2), 1);
    expect(y1).toBeLessThan(y0);
    expect(files[0]?.[1]).toBeGreaterThan(y0);
    expect(lines(svg)).toHaveLength(2);
  });

  it('stays within its view', () => {
    const [, , width = 0, height = 0] = (svg.attributes.viewBox ?? '').split(' ').map(Number);
    for (const [x = -1, y = -1] of lines(svg).flat()) {
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x).toBeLessThanOrEqual(width);
      expect(y).toBeGreaterThanOrEqual(0);
      expect(y).toBeLessThanOrEqual(height);
    }
  });

  it('has axes without values', () => {
    const empty = parseXml(drawLinePlot({ ...plot, panels: [{ y: 'y', series: [] }] }));
    expect(all(empty, 'text').map(({ text }) => text)).toContain('1');
  });
});

const bars = parseXml(
  drawBarPlot({
    title: 'Rates & goals',
    x: 'users/s',
    bars: [
      { name: 'import', median: 50, least: 40, most: 60, goal: 100 },
      { name: 'export', median: 25, least: 25, most: 25 },
    ],
  }),
);

describe('drawBarPlot', () => {
  it('draws bars whose widths are in proportion to their medians', () => {
    const [first = 0, second = 0] = all(bars, 'rect').map(({ attributes }) => Number(attributes.width));
    expect(first).toBeGreaterThan(0);
    expect(first / second).toBeCloseTo(2, 1);
  });

  it('marks a goal only where there is one, at its place on the axis', () => {
    const marks = all(bars, 'path').filter(({ attributes: { d = '' } }) => /V/.test(d) && !/V96$/.test(d));
    expect(marks).toHaveLength(1);
    const [bar] = all(bars, 'rect');
    const start = Number(bar?.attributes.x);
    const [, at = ''] = /^M([\d.]+) /.exec(marks[0]?.attributes.d ?? '') ?? [];
    expect((Number(at) - start) / Number(bar?.attributes.width)).toBeCloseTo(2, 1);
  });

  it('escapes its title', () => {
    expect(all(bars, 'title')).toHaveLength(1);
    expect(drawBarPlot({ title: 'a < b', x: '', bars: [] })).toContain('<title>a &lt; b</title>');
  });
});

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
