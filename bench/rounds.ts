import type { BenchContext } from './context.ts';
import type { Figures, Scenario } from './measure.ts';

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
