import { colour, escapeXml, GREY, print, svgDocument, text, WIDTH } from './svg.ts';
import { ticks } from './ticks.ts';

/** An axis: its title with the unit. */
interface Axis {
  readonly label: string;
}

/** A line: its name, and its points in the order of x. */
interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** One diagram: its lines share both axes, which begin at 0. */
interface Panel {
  readonly y: Axis;
  readonly series: readonly Series[];
}

/** Diagrams one below the other, with one x axis. */
export interface LinePlot {
  readonly title: string;
  readonly x: Axis;
  readonly panels: readonly Panel[];
}

const PANEL_HEIGHT = 180;
const MARGIN = { top: 40, right: 20, bottom: 50, left: 70 } as const;
const GAP = 44;
const INNER_WIDTH = WIDTH - MARGIN.left - MARGIN.right;

/** Draws lines over a common x axis as an SVG document. */
export function drawLinePlot({ title, x, panels }: LinePlot): string {
  const height = MARGIN.top + panels.length * (PANEL_HEIGHT + GAP) - GAP + MARGIN.bottom;
  const xTicks = ticks(
    largest(
      panels.flatMap(({ series }) => series),
      0,
    ),
    8,
  );
  const bottom = height - MARGIN.bottom;
  const drawn = panels.map((panel, index) => {
    const top = MARGIN.top + index * (PANEL_HEIGHT + GAP);
    return drawPanel(panel, top, xTicks);
  });
  return svgDocument(title, height, [
    ...drawn,
    ...xTicks.map((value) => text(horizontal(value, xTicks), bottom + 18, print(value), 'middle')),
    text(MARGIN.left + INNER_WIDTH / 2, bottom + 40, x.label, 'middle'),
  ]);
}

function drawPanel({ y, series }: Panel, top: number, xTicks: readonly number[]): string {
  const yTicks = ticks(largest(series, 1), 5);
  const vertical = (value: number) => top + PANEL_HEIGHT * (1 - value / last(yTicks));
  const grid = yTicks.map((value) => {
    const at = vertical(value);
    const end = WIDTH - MARGIN.right;
    const line = `<path d="M${MARGIN.left} ${at.toFixed(1)}H${end}" stroke="${GREY}" stroke-opacity="0.35"/>`;
    return `${line}${text(MARGIN.left - 8, at + 4, print(value), 'end')}`;
  });
  const lines = series.map(({ points }, index) => {
    const path = points.map(([a, b]) => `${horizontal(a, xTicks).toFixed(1)} ${vertical(b).toFixed(1)}`).join('L');
    return points.length === 0 ? '' : `<path d="M${path}" fill="none" stroke="${colour(index)}" stroke-width="1.5"/>`;
  });
  return [
    text(MARGIN.left, top - 8, y.label, 'start'),
    ...drawLegend(series, top - 8),
    ...grid,
    ...lines.filter((line) => line !== ''),
  ].join('\n');
}

/** Draws the names of several lines, from the right; a single line has its axis' title. */
function drawLegend(series: readonly Series[], y: number): string[] {
  if (series.length < 2) return [];
  const spans = series.map(({ name }, index) => `<tspan fill="${colour(index)}" dx="12">${escapeXml(name)}</tspan>`);
  return [`<text x="${WIDTH - MARGIN.right}" y="${y}" text-anchor="end">${spans.join('')}</text>`];
}

function horizontal(value: number, xTicks: readonly number[]): number {
  return MARGIN.left + (INNER_WIDTH * value) / last(xTicks);
}

function largest(series: readonly Series[], coordinate: 0 | 1): number {
  return series.flatMap(({ points }) => points).reduce((max, point) => Math.max(max, point[coordinate]), 0);
}

function last(values: readonly number[]): number {
  return values.at(-1) ?? 1;
}
