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

/** Go's syntax of a duration that is not negative. */
export const durationPattern = /^\+?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/;
const part = /([\d.]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g;
const longestText = 100;
/** Go counts nanoseconds in 63 bits: about 292 years. */
const longest = 2 ** 63 / 1e6;

/**
 * Reads a positive duration in the syntax of Go's `time.ParseDuration` (`300ms`, `1.5h`, `1h5m`).
 *
 * @returns milliseconds, not always whole; undefined where the text is no such duration, is not positive or overflows
 */
export function goDuration(text: string): number | undefined {
  if (text.length > longestText || !durationPattern.test(text)) return undefined;
  let nanoseconds = 0;
  for (const [, number, unit = ''] of text.matchAll(part)) {
    nanoseconds += Number(number) * (nanosecondsPerUnit.get(unit) ?? Number.NaN);
  }
  const milliseconds = nanoseconds / 1e6;
  return nanoseconds >= 1 && milliseconds < longest ? milliseconds : undefined;
}

/**
 * Reads the `timeout` of a request: a positive Go duration of at most `limit` milliseconds.
 *
 * @returns milliseconds
 * @throws IdentityError INVALID_ARGUMENT that names the field and says what is allowed
 */
export function parseDuration(text: string, limit: number = longest): number {
  const milliseconds = goDuration(text);
  if (milliseconds !== undefined && milliseconds <= limit) return milliseconds;
  const most = limit === longest ? '' : ` of at most ${formatDuration(limit)}`;
  const description = `must be a positive duration${most}, a number with its unit (ms, s, m, h), such as "30s" or "1h5m"`;
  throw invalidRequest([{ field: 'timeout', description }]);
}

function formatDuration(milliseconds: number): string {
  const parts: [number, string][] = [
    [Math.floor(milliseconds / 3_600_000), 'h'],
    [Math.floor(milliseconds / 60_000) % 60, 'm'],
    [Math.floor(milliseconds / 1000) % 60, 's'],
    [milliseconds % 1000, 'ms'],
  ];
  const said = parts.filter(([count]) => count > 0);
  return said.map(([count, unit]) => `${count}${unit}`).join('');
}
