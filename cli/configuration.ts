import { type Config, ConfigError, readConfig } from '../shared/config.ts';
import { type Call, UsageError } from './command.ts';
import { DAY_MS, parseSpan } from './spans.ts';

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
