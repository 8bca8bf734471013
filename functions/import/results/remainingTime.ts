import type { ImportProgress } from '../contract.ts';

/** The minimum duration and share of settled records for an estimate of the speed. */
const MIN_MEASURED_MS = 3_000;
const MIN_MEASURED_SHARE = 0.01;

/**
 * Estimates the milliseconds that the remaining records of an import need at the average speed so far; undefined until
 * the speed is known.
 * @param done the number of settled records, and the total number
 */
export function remainingMs(
  elapsedMs: number,
  done: { readonly records: number; readonly total: number },
): number | undefined {
  const share = done.records / done.total;
  if (elapsedMs < MIN_MEASURED_MS || !(share >= MIN_MEASURED_SHARE)) return undefined;
  return (elapsedMs * Math.max(0, 1 - share)) / share;
}

/**
 * Returns the needed and the remaining time in seconds, if an import needs more time than is left until its timeout.
 */
export function excessOf(neededMs: number, leftMs = Number.POSITIVE_INFINITY): ImportProgress['exceedsTimeout'] {
  if (neededMs <= leftMs) return undefined;
  return { secondsNeeded: Math.ceil(neededMs / 1_000), secondsLeft: Math.max(0, Math.floor(leftMs / 1_000)) };
}
