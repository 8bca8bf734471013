import { z } from 'zod';
import { durationPattern } from '../duration.ts';

/** The `timeout` of a request: its limit is the deployment's, so it is looked at by `parseDuration`. */
export const timeout = z.string().meta({
  pattern: durationPattern.source,
  format: 'go-duration',
  description:
    'The longest that the call may take, as a positive duration of Go, such as "30s" or "1h5m". By default, and at most, MAX_TIMEOUT of the deployment.',
});
