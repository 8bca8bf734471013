// Responses that ask the client to repeat the request later.

import type { IdentityError } from '../../shared/errors/identityError.ts';
import { placeUnavailable } from '../../shared/errors/placeErrors.ts';
import { parseRetryAfter } from '../../shared/retry.ts';

/** The statuses of a server, or of a gateway in front of it, that may handle the same request later. */
const LATER = new Set([408, 425, 429, 502, 503, 504]);

/** The status of a gateway whose time limit has ended a request. The limit would end a repeated request too. */
export const GATEWAY_TIMEOUT = 504;

interface LaterResponse {
  readonly status: number;
  readonly headers: { readonly 'retry-after'?: string | undefined };
}

/**
 * Returns the seconds until the request may be repeated: those that the response states, otherwise 0. Returns undefined
 * if the response is final.
 * @param isFinal whether the server explained a lasting problem; only a stated time then permits a repetition
 */
export function secondsUntilRepeat({ status, headers }: LaterResponse, isFinal = false): number | undefined {
  if (!LATER.has(status)) return undefined;
  const stated = parseRetryAfter(headers['retry-after'], Date.now());
  return stated ?? (isFinal || status === GATEWAY_TIMEOUT ? undefined : 0);
}

/** Whether an error is that of a response that asks the client to repeat the request later. */
export function isLater(error: unknown): error is IdentityError & { readonly retryAfterSeconds: number } {
  return placeUnavailable.is(error) && error.retryAfterSeconds !== undefined;
}
