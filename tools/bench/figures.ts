/**
 * A measurement of one round: the value of the service, and the value that this machine can reach without the service.
 */
export interface Figure {
  readonly title: string;
  readonly unit: 'users/s' | 'removals/s' | 'ms' | 'MB';
  readonly service: number;
  readonly limit: number;
}

interface Row extends Figure {
  readonly ratio: number;
  readonly lowest: number;
  readonly highest: number;
}

function summarise(rounds: readonly (readonly Figure[])[]): readonly Row[] {
  const [first = []] = rounds;
  return first.map(({ title, unit }) => {
    const figures = rounds.flat().filter((figure) => figure.title === title);
    const ratios = figures.map((figure) => figure.service / figure.limit);
    return {
      title,
      unit,
      service: median(figures.map((figure) => figure.service)),
      limit: median(figures.map((figure) => figure.limit)),
      ratio: median(ratios),
      lowest: Math.min(...ratios),
      highest: Math.max(...ratios),
    };
  });
}

export function figuresTable(rounds: readonly (readonly Figure[])[]): string {
  const rows = summarise(rounds).map(({ title, unit, service, limit, ratio, lowest, highest }) => {
    const spread = `${lowest.toFixed(2)} to ${highest.toFixed(2)}`;
    return [title, `${amount(service)} ${unit}`, `${amount(limit)} ${unit}`, ratio.toFixed(2), spread];
  });
  const head = ['', 'service', 'limit', 'ratio', 'spread'];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The dimensions of the plot, in the units of the SVG's view box. */
const plot = { width: 640, row: 22, titles: 230, bars: 340, bar: 12 } as const;

export function speedsPlot(rounds: readonly (readonly Figure[])[]): string {
  const rows = summarise(rounds).filter(({ unit }) => unit.endsWith('/s'));
  const widest = Math.max(1, ...rows.map(({ highest }) => highest));
  const length = (ratio: number) => ((ratio / widest) * plot.bars).toFixed(1);
  const x = (ratio: number) => (plot.titles + (ratio / widest) * plot.bars).toFixed(1);
  const height = (rows.length + 1) * plot.row;
  const lines = rows.map(({ title, ratio, lowest, highest }, index) => {
    const middle = index * plot.row + plot.row / 2;
    return [
      `<text x="${plot.titles - 8}" y="${middle + 4}" text-anchor="end">${title}</text>`,
      `<rect x="${plot.titles}" y="${middle - plot.bar / 2}" width="${length(ratio)}" height="${plot.bar}" fill="#5b8def"/>`,
      `<path d="M${x(lowest)} ${middle}H${x(highest)}" stroke="#888" stroke-width="2"/>`,
      `<text x="${Number(x(highest)) + 6}" y="${middle + 4}">${ratio.toFixed(2)}</text>`,
    ].join('');
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${plot.width} ${height}" font-family="sans-serif" font-size="12" fill="#888">`,
    '<title>The ratio of each speed to its limit</title>',
    ...lines,
    `<path d="M${x(1)} 0V${height - plot.row}" stroke="#888" stroke-dasharray="3"/>`,
    `<text x="${x(1)}" y="${height - 7}" text-anchor="middle">limit</text>`,
    '</svg>\n',
  ].join('\n');
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return (low + high) / 2;
}

function amount(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 });
}
