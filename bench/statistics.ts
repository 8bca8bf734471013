import type { Figures } from './measure.ts';

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
