import type { ImportProgress } from '../contract.ts';

/** The speed is estimated only after this time, and after `MIN_MEASURED_SHARE` of the records have an outcome. */
const MIN_MEASURED_MS = 3_000;
const MIN_MEASURED_SHARE = 0.01;

/** Estimates the remaining time from the average speed so far. Returns undefined until the speed can be estimated. */
export function remainingMs(
  elapsedMs: number,
  done: { readonly records: number; readonly total: number },
): number | undefined {
  const share = done.records / done.total;
  if (elapsedMs < MIN_MEASURED_MS || !(share >= MIN_MEASURED_SHARE)) return undefined;
  return (elapsedMs * Math.max(0, 1 - share)) / share;
}

/**
 * Returns the time that an import needs and the time that is left, if the import will probably exceed its timeout;
 * otherwise undefined.
 */
export function excessOf(neededMs: number, leftMs = Number.POSITIVE_INFINITY): ImportProgress['exceedsTimeout'] {
  if (neededMs <= leftMs) return undefined;
  return { secondsNeeded: Math.ceil(neededMs / 1_000), secondsLeft: Math.max(0, Math.floor(leftMs / 1_000)) };
}
