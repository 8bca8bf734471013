import { UsageError } from './command.ts';

const DAY_MS = 86_400_000;
const MAX_DAYS = 3_660;
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: DAY_MS };

/** The lifetime of a token: `30d`, `12h` or `45m`, 30 days where none is given. Returns milliseconds. */
export function lifetime(text: string | undefined): number {
  const [, amount = '', unit = ''] = /^(\d{1,6})([mhd])$/.exec(text ?? '30d') ?? [];
  const milliseconds = Number(amount) * (UNITS[unit] ?? 0);
  if (milliseconds > 0 && milliseconds <= MAX_DAYS * DAY_MS) return milliseconds;
  throw new UsageError(`invalid --expires ${text}: specify a lifetime such as 30d, 12h or 45m, at most ${MAX_DAYS}d`);
}
