import { type Config, ConfigError, readConfig } from '../shared/config.ts';
import { type Call, UsageError } from './command.ts';

const DAY_MS = 86_400_000;
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: DAY_MS };

/** The form of a span of time, such as `30d`, `12h` or `45m`. */
export const spanPattern = /^(\d{1,6})([mhd])$/;

/** Parses a span of time, which the call has been checked for. Returns milliseconds. */
export function parseSpan(text: string): number {
  const [, amount = '', unit = ''] = spanPattern.exec(text) ?? [];
  return Number(amount) * (UNITS[unit] ?? 0);
}

/**
 * Reads the configuration.
 * @throws UsageError that lists every problem
 */
export function loadConfig({ environment }: Call): Config {
  try {
    return readConfig(environment);
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error;
  }
}

/**
 * Parses a token's lifetime, such as `30d`, `12h` or `45m`. Returns milliseconds; the default is 30 days, or the longest
 * lifetime that the configuration allows.
 * @throws UsageError
 */
export function lifetime(call: Call): number {
  const { options } = call;
  const { maxTokenLifetimeMs } = loadConfig(call);
  if (options.expires === undefined) return Math.min(30 * DAY_MS, maxTokenLifetimeMs);
  const milliseconds = parseSpan(options.expires);
  if (milliseconds > 0 && milliseconds <= maxTokenLifetimeMs) return milliseconds;
  const longest = maxTokenLifetimeMs / DAY_MS;
  throw new UsageError(
    `invalid --expires ${options.expires}: specify a lifetime such as 30d, 12h or 45m, at most ${longest}d (MAX_TOKEN_DAYS)`,
  );
}
