import { IdentityError } from '../../errors/identityError.ts';
import type { RetryRule } from './retry.ts';
import { statusOf } from './status.ts';

/** For work that lost against other writers. */
export const contentionRule: RetryRule = {
  attempts: 10,
  firstPause: 20,
  longestPause: 1_000,
  isWorthwhile: (reason) =>
    statusOf(reason) === 'ABORTED' || (reason instanceof IdentityError && statusOf(reason.cause) === 'ABORTED'),
};
