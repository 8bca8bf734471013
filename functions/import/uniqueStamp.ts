import { randomInt } from 'node:crypto';

/** Returns the current time with three random digits as microseconds, so that concurrent imports differ. */
export function uniqueStamp(now: Date): string {
  return now.toISOString().replace('Z', `${String(randomInt(1000)).padStart(3, '0')}Z`);
}
