/** The grey and the colours are legible on white and on black: images cannot ask which page they are on. */
const GREY = '#767d85';
const COLOURS = ['#2f7fd6', '#d2601a', '#2b9348', '#a855c7', '#b8860b', '#d6336c'];

const WIDTH = 800;

/** Returns the colour of a series by its index. */
function colour(index: number): string {
  return COLOURS[index % COLOURS.length] ?? GREY;
}

/** Writes a number as a label. */
function print(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 6 });
}

/** Writes a `text` element; `more` holds further attributes. */
function text(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end', more = ''): string {
  const attributes = `x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}"${more && ` ${more}`}`;
  return `<text ${attributes}>${escapeXml(content)}</text>`;
}

/** Escapes text for content and attributes. */
function escapeXml(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** Writes a drawing of this height as an SVG document with its title. */
function svgDocument(title: string, height: number, content: readonly string[]): string {
  const attributes = `xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img"`;
  return [
    `<svg ${attributes} font-family="sans-serif" font-size="12" fill="${GREY}">`,
    `<title>${escapeXml(title)}</title>`,
    text(WIDTH / 2, 16, title, 'middle', 'font-weight="bold"'),
    ...content,
    '</svg>',
    '',
  ].join('\n');
}

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
const BAR_MARGIN = { top: 36, right: 30, bottom: 50, left: 300 } as const;
const BAR_WIDTH = WIDTH - BAR_MARGIN.left - BAR_MARGIN.right;

/** Draws bars as an SVG document. A line across a bar is its spread, a mark above it its goal. */
export function drawBarPlot({ title, x, bars }: BarPlot): string {
  const values = bars.flatMap(({ most, goal = 0 }) => [most, goal]);
  const marks = ticks(Math.max(0, ...values), 6);
  const end = marks.at(-1) ?? 1;
  const horizontal = (value: number) => BAR_MARGIN.left + (BAR_WIDTH * value) / end;
  const bottom = BAR_MARGIN.top + bars.length * ROW;
  const grid = marks.map((value) => {
    const at = horizontal(value).toFixed(1);
    const line = `<path d="M${at} ${BAR_MARGIN.top}V${bottom}" stroke="${GREY}" stroke-opacity="0.35"/>`;
    return `${line}${text(horizontal(value), bottom + 18, print(value), 'middle')}`;
  });
  const drawn = bars.map((bar, index) => drawBar(bar, BAR_MARGIN.top + index * ROW + ROW / 2, horizontal));
  const legend = text(BAR_MARGIN.left + BAR_WIDTH / 2, bottom + 40, `${x}; the mark is the goal`, 'middle');
  return svgDocument(title, bottom + BAR_MARGIN.bottom, [...grid, ...drawn, legend]);
}

function drawBar({ name, median, least, most, goal }: Bar, y: number, horizontal: (value: number) => number): string {
  const [start, end] = [horizontal(0), horizontal(median)];
  const top = y - THICKNESS / 2;
  const size = `width="${(end - start).toFixed(1)}" height="${THICKNESS}"`;
  const spread = `M${horizontal(least).toFixed(1)} ${y}H${horizontal(most).toFixed(1)}`;
  return [
    text(BAR_MARGIN.left - 8, y + 4, name, 'end'),
    `<rect x="${start.toFixed(1)}" y="${top}" ${size} fill="${colour(0)}"/>`,
    `<path d="${spread}" stroke="${GREY}" stroke-width="3"/>`,
    ...(goal === undefined ? [] : [drawGoal(horizontal(goal), y)]),
  ].join('\n');
}

function drawGoal(x: number, y: number): string {
  const half = ROW / 2 - 3;
  return `<path d="M${x.toFixed(1)} ${y - half}V${y + half}" stroke="${colour(1)}" stroke-width="3"/>`;
}

/** A line: its name, and its points in the order of x. */
interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** One diagram: its lines share both axes, which begin at 0. */
interface Panel {
  /** The axis' title with the unit. */
  readonly y: string;
  readonly series: readonly Series[];
}

/** Diagrams one below the other, with one x axis. */
export interface LinePlot {
  readonly title: string;
  /** The axis' title with the unit. */
  readonly x: string;
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
    text(MARGIN.left + INNER_WIDTH / 2, bottom + 40, x, 'middle'),
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
    text(MARGIN.left, top - 8, y, 'start'),
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

/** The steps of ticks, as multiples of a power of ten. */
const STEPS = [1, 2, 5, 10];

/** Returns round numbers from 0 to the first that is not below `max`, about `count` of them. */
export function ticks(max: number, count: number): readonly number[] {
  if (!(max > 0) || !Number.isFinite(max)) return [0, 1];
  const rough = max / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = (STEPS.find((each) => each * power >= rough) ?? 10) * power;
  const steps = Math.ceil(max / step);
  // Multiplied and rounded, since sums of fractions are not exact.
  return Array.from({ length: steps + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}
