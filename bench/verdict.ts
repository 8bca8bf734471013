import type { Bound, Figure, Figures, Measure } from './measure.ts';

/** A figure over all rounds. */
export interface Summary {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/**
 * Summarises a figure.
 * @throws Error if a round lacks it
 */
export function summarise(rounds: readonly Figures[], name: string): Summary {
  const values = rounds.map((figures) => figures[name]).filter((value) => value !== undefined);
  if (values.length < rounds.length || values.length === 0) throw new Error(`a round has no ${name}`);
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const [low = 0, high = 0] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return { median: (low + high) / 2, least: sorted[0] ?? 0, most: sorted.at(-1) ?? 0 };
}

/** How a figure stands to its goal: `accepted` misses the goal, but not what is accepted in its place. */
export type Verdict = 'reached' | 'accepted' | 'missed' | 'none';

/** Compares the median of a figure with its goal. */
export function judge({ goal, accepted }: Figure, { median }: Summary): Verdict {
  if (goal === undefined) return 'none';
  if (holds(goal, median)) return 'reached';
  return accepted !== undefined && holds(accepted.bound, median) ? 'accepted' : 'missed';
}

/** Whether the figure fails the benchmark. */
export function fails(figure: Figure, summary: Summary): boolean {
  return figure.isGuarded === true && judge(figure, summary) === 'missed';
}

function holds(bound: Bound, value: number): boolean {
  return 'least' in bound ? value >= bound.least : value <= bound.most;
}

/** Writes a bound, as in `>= 0.7`. */
export function boundText(bound: Bound): string {
  return 'least' in bound ? `>= ${bound.least.toLocaleString('en')}` : `<= ${bound.most.toLocaleString('en')}`;
}

/** Writes the value of a figure with its unit; ratios and counts of documents have three digits. */
export function valueText({ unit }: Pick<Figure, 'unit'>, value: number): string {
  const digits = unit === 'times' || unit === 'documents' || value < 10 ? 2 : value < 100 ? 1 : 0;
  const number = value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return unit === 'times' || unit === 'documents' ? number : `${number} ${unit}`;
}

/** Writes the line of a figure: its value, spread and goal. */
export function figureLine(measure: Measure, figure: Figure, summary: Summary): string {
  const spread = `${valueText(figure, summary.least)} to ${valueText(figure, summary.most)}`;
  const goal = figure.goal === undefined ? '' : `goal ${boundText(figure.goal)}`;
  const line = [
    measure.name.padEnd(24),
    figure.title.padEnd(34),
    valueText(figure, summary.median).padStart(18),
    spread.padStart(34),
    `  ${goal}`,
  ];
  return `${line.join(' ')}${ending(figure, summary)}`.trimEnd();
}

function ending(figure: Figure, summary: Summary): string {
  const verdict = judge(figure, summary);
  if (verdict === 'accepted' && figure.accepted) return `, accepted ${boundText(figure.accepted.bound)}`;
  return verdict === 'missed' ? ', missed' : '';
}
