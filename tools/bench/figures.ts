/** A row of the table in one round: a figure of the service, and the limit of this machine. */
export interface Figure {
  readonly title: string;
  readonly unit: 'users/s' | 'removals/s' | 'ms' | 'MB';
  readonly service: number;
  readonly limit: number;
}

/** Renders a table in Markdown: the medians of all rounds, and the ratio of both with its minimum and maximum. */
export function figuresTable(rounds: readonly (readonly Figure[])[]): string {
  const [first = []] = rounds;
  const rows = first.map(({ title, unit }) => {
    const figures = rounds.flat().filter((figure) => figure.title === title);
    const service = median(figures.map((figure) => figure.service));
    const limit = median(figures.map((figure) => figure.limit));
    const ratios = figures.map((figure) => figure.service / figure.limit);
    const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
    return [title, `${amount(service)} ${unit}`, `${amount(limit)} ${unit}`, median(ratios).toFixed(2), spread];
  });
  const head = ['', 'service', 'limit', 'ratio', 'spread'];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Returns the median. For an even number of values, returns the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return (low + high) / 2;
}

function amount(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 });
}
