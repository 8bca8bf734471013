import { DAY_MS } from '../../shared/clock.ts';
import { type Config, readConfig } from '../../shared/config.ts';
import { type Surroundings, usageError } from './command.ts';
import type { Span } from './valueFormats.ts';

type Configured = Pick<Surroundings, 'environment'>;

/** @throws IdentityError CONFIGURATION_INVALID with a list of all problems */
export function loadConfig({ environment }: Configured): Config {
  return readConfig(environment);
}

/**
 * Returns the lifetime of a new token in milliseconds. The default is 30 days, or the configured maximum if the maximum
 * is shorter.
 * @throws IdentityError USAGE_INVALID for a lifetime above the configured maximum
 */
export function tokenLifetime(expires: Span | undefined, configured: Configured): number {
  const { maxTokenLifetimeMs } = loadConfig(configured);
  if (expires === undefined) return Math.min(30 * DAY_MS, maxTokenLifetimeMs);
  const { text, milliseconds } = expires;
  if (milliseconds > 0 && milliseconds <= maxTokenLifetimeMs) return milliseconds;
  const longest = maxTokenLifetimeMs / DAY_MS;
  throw usageError(
    `invalid --expires ${text}: specify a lifetime such as 30d, 12h, 45m or 90s, at most ${longest}d (MAX_TOKEN_DAYS)`,
  );
}
