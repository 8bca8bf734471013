import type { BenchContext } from './context.ts';

/** The units of figures; `times` is a ratio of two things that one round measures. */
type Unit = 'times' | 'users/s' | 'removals/s' | 'MB' | 'ms' | 'documents' | 'us';

/** A bound of a figure: the least or the most that it should be. */
export type Bound = { readonly least: number } | { readonly most: number };

/** A number that each round of a scenario yields. */
export interface Figure {
  /** The name by which the scenario returns it. */
  readonly name: string;
  readonly title: string;
  readonly unit: Unit;
  readonly goal?: Bound;
  /** Whether missing the goal fails the benchmark. Absolute figures depend on the machine, and fail nothing. */
  readonly isGuarded?: boolean;
  /** What is accepted although it misses the goal, and why. It is guarded in the goal's place. */
  readonly accepted?: { readonly bound: Bound; readonly reason: string };
}

/** Figures of one round, by name. */
export type Figures = Readonly<Record<string, number>>;

/** Measures each thing once, one after the other, so that all of them meet the same state of the machine. */
type Round = () => Promise<Figures>;

/** The preparation of measurements, which may yield the figures of several measures. */
export interface Scenario {
  /** Prepares the rounds; returns the reason if this machine lacks something. */
  readonly prepare: (bench: BenchContext) => Promise<Round | { readonly missing: string }>;
  /** The number of rounds, where it is not that of the time that they take. */
  readonly rounds?: number;
}

/** A row of the benchmark. */
export interface Measure {
  /** The name for `--only`, and of the file of its result. */
  readonly name: string;
  readonly title: string;
  /** What is compared, and how. */
  readonly compared: string;
  readonly scenario: Scenario;
  readonly figures: readonly Figure[];
}

/** Returns a figure whose goal is a ratio: missing it fails the benchmark. */
export function ratioFigure(name: string, title: string, goal: Bound, accepted?: Figure['accepted']): Figure {
  return { name, title, unit: 'times', goal, isGuarded: true, ...(accepted && { accepted }) };
}

/** A round below this time is repeated more often, since its figures spread more. */
const SHORT_MS = 5_000;
const counts = { short: 5, long: 3 } as const;

/** Measures the rounds of a scenario; returns the reason if this machine lacks something. */
export async function measureRounds(
  { prepare, rounds }: Scenario,
  bench: BenchContext,
  wanted = rounds,
): Promise<readonly Figures[] | { readonly missing: string }> {
  const round = await prepare(bench);
  if ('missing' in round) return round;
  const begin = performance.now();
  const measured = [await round()];
  const isShort = performance.now() - begin < SHORT_MS;
  const count = wanted ?? counts[isShort ? 'short' : 'long'];
  while (measured.length < count) measured.push(await round());
  return measured;
}
