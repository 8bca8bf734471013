import { invalidRequest } from './errors/errors.ts';

const nanosecondsPerUnit = new Map([
  ['ns', 1],
  ['us', 1e3],
  ['\u00b5s', 1e3],
  ['\u03bcs', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
  ['m', 60e9],
  ['h', 3600e9],
]);

export const durationPattern = /^\+?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/;
const part = /([\d.]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g;
const maxTextLength = 100;
/** The longest duration in milliseconds, about 292 years, because Go stores nanoseconds in 63 bits. */
const maxMs = 2 ** 63 / 1e6;

/**
 * Parses a positive duration in the syntax of Go's `time.ParseDuration` (`300ms`, `1.5h`, `1h5m`).
 * @returns milliseconds, possibly fractional; undefined if the text is not a duration, or if the duration is not
 * positive or is too long
 * @example
 *     parseGoDuration('1h5m'); // 3_900_000
 */
export function parseGoDuration(text: string): number | undefined {
  if (text.length > maxTextLength || !durationPattern.test(text)) return undefined;
  let nanoseconds = 0;
  for (const [, number, unit = ''] of text.matchAll(part)) {
    nanoseconds += Number(number) * (nanosecondsPerUnit.get(unit) ?? Number.NaN);
  }
  const milliseconds = nanoseconds / 1e6;
  return nanoseconds >= 1 && milliseconds < maxMs ? milliseconds : undefined;
}

/**
 * Parses a request's `timeout` in Go's syntax.
 * @param limit the longest permitted duration in milliseconds
 * @returns milliseconds
 * @throws IdentityError INVALID_ARGUMENT if the text is not a positive duration or exceeds the limit
 */
export function parseDuration(text: string, limit: number = maxMs): number {
  const milliseconds = parseGoDuration(text);
  if (milliseconds !== undefined && milliseconds <= limit) return milliseconds;
  const maximum = limit === maxMs ? '' : ` of at most ${formatDuration(limit)}`;
  const description = `must be a positive duration${maximum}, a number with its unit (ms, s, m, h), such as "30s" or "1h5m"`;
  throw invalidRequest([{ field: 'timeout', description }]);
}

export function formatDuration(milliseconds: number): string {
  const parts: [number, string][] = [
    [Math.floor(milliseconds / 3_600_000), 'h'],
    [Math.floor(milliseconds / 60_000) % 60, 'm'],
    [Math.floor(milliseconds / 1000) % 60, 's'],
    [milliseconds % 1000, 'ms'],
  ];
  const nonZero = parts.filter(([count]) => count > 0);
  return nonZero.map(([count, unit]) => `${count}${unit}`).join('');
}
