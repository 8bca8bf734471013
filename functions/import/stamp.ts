import { randomInt } from 'node:crypto';

const RANDOM_DIGITS = 9;

/**
 * Returns the current time with random digits behind the milliseconds, so that no two imports have the same: each takes
 * records with its own stamp for its own.
 */
export function uniqueStamp(now: Date): string {
  const digits = String(randomInt(10 ** RANDOM_DIGITS)).padStart(RANDOM_DIGITS, '0');
  return now.toISOString().replace('Z', `${digits}Z`);
}
