/** How much more the last third may have than the middle one: a share of it, and an amount. */
export interface Tolerance {
  readonly share: number;
  readonly amount: number;
}

/** The medians of the last two thirds of a series, and whether it grows no more than tolerated. */
export interface Flatness {
  readonly middle: number;
  readonly last: number;
  readonly isFlat: boolean;
}

/**
 * Compares the medians of the middle and last third of a series, so that neither the warm-up nor single peaks count. A
 * series that grows steadily is found at any pace that shows within a third.
 */
export function measureFlatness(values: readonly number[], { share, amount }: Tolerance): Flatness {
  const third = Math.floor(values.length / 3);
  if (third === 0) throw new Error(`${values.length} values have no thirds`);
  const middle = median(values.slice(third, 2 * third));
  const last = median(values.slice(2 * third));
  return { middle, last, isFlat: last <= middle * (1 + share) + amount };
}

/** Returns the median of values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new Error('no values have no median');
  return (lower + upper) / 2;
}
