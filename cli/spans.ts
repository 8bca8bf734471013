/** The milliseconds of a day. */
export const DAY_MS = 86_400_000;

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: DAY_MS };

/** The form of a span of time, such as `30d`, `12h` or `45m`. */
export const spanPattern = /^(\d{1,6})([mhd])$/;

/** Parses a span of time, which the call has been checked for. Returns milliseconds. */
export function parseSpan(text: string): number {
  const [, amount = '', unit = ''] = spanPattern.exec(text) ?? [];
  return Number(amount) * (UNITS[unit] ?? 0);
}
