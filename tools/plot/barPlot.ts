import { colour, GREY, print, svgDocument, text, WIDTH } from './svg.ts';
import { ticks } from './ticks.ts';

/** A bar: a median with its spread, and the goal beside it. */
export interface Bar {
  readonly name: string;
  readonly median: number;
  readonly least: number;
  readonly most: number;
  readonly goal?: number;
}

/** Horizontal bars with one x axis, which begins at 0. */
export interface BarPlot {
  readonly title: string;
  readonly x: string;
  readonly bars: readonly Bar[];
}

const ROW = 30;
const THICKNESS = 16;
const MARGIN = { top: 36, right: 30, bottom: 50, left: 300 } as const;
const INNER_WIDTH = WIDTH - MARGIN.left - MARGIN.right;

/** Draws bars as an SVG document. A line across a bar is its spread, a mark above it its goal. */
export function drawBarPlot({ title, x, bars }: BarPlot): string {
  const values = bars.flatMap(({ most, goal = 0 }) => [most, goal]);
  const marks = ticks(Math.max(0, ...values), 6);
  const end = marks.at(-1) ?? 1;
  const horizontal = (value: number) => MARGIN.left + (INNER_WIDTH * value) / end;
  const bottom = MARGIN.top + bars.length * ROW;
  const grid = marks.map((value) => {
    const at = horizontal(value).toFixed(1);
    const line = `<path d="M${at} ${MARGIN.top}V${bottom}" stroke="${GREY}" stroke-opacity="0.35"/>`;
    return `${line}${text(horizontal(value), bottom + 18, print(value), 'middle')}`;
  });
  const drawn = bars.map((bar, index) => drawBar(bar, MARGIN.top + index * ROW + ROW / 2, horizontal));
  const legend = text(MARGIN.left + INNER_WIDTH / 2, bottom + 40, `${x}; the mark is the goal`, 'middle');
  return svgDocument(title, bottom + MARGIN.bottom, [...grid, ...drawn, legend]);
}

function drawBar({ name, median, least, most, goal }: Bar, y: number, horizontal: (value: number) => number): string {
  const [start, end] = [horizontal(0), horizontal(median)];
  const top = y - THICKNESS / 2;
  const size = `width="${(end - start).toFixed(1)}" height="${THICKNESS}"`;
  const spread = `M${horizontal(least).toFixed(1)} ${y}H${horizontal(most).toFixed(1)}`;
  return [
    text(MARGIN.left - 8, y + 4, name, 'end'),
    `<rect x="${start.toFixed(1)}" y="${top}" ${size} fill="${colour(0)}"/>`,
    `<path d="${spread}" stroke="${GREY}" stroke-width="3"/>`,
    ...(goal === undefined ? [] : [drawGoal(horizontal(goal), y)]),
  ].join('\n');
}

function drawGoal(x: number, y: number): string {
  const half = ROW / 2 - 3;
  return `<path d="M${x.toFixed(1)} ${y - half}V${y + half}" stroke="${colour(1)}" stroke-width="3"/>`;
}
