import { defined } from '../../shared/defined.ts';
import type { IdentityError } from '../../shared/errors/identityError.ts';
import { gatewayTimedOut, placeUnavailable } from '../../shared/errors/placeErrors.ts';
import { parseRetryAfter } from '../../shared/retry.ts';

/**
 * Statuses after which the client may repeat the request, because the server or a gateway in front of it is only
 * temporarily unable to handle it.
 */
const LATER = new Set([408, 425, 429, 502, 503, 504]);

/** The status with which a gateway ends a request that takes too long. The gateway would end a repeated request too. */
const GATEWAY_TIMEOUT = 504;

interface LaterResponse {
  readonly status: number;
  readonly headers: { readonly 'retry-after'?: string | undefined };
}

/**
 * Returns the seconds until the client may repeat the request. Returns 0 if the response contains no number of seconds.
 * Returns undefined if a repetition cannot help.
 * @param isFinal whether the server explained a lasting problem. If so, the client repeats the request only if the
 * response contains a number of seconds
 */
export function secondsUntilRepeat({ status, headers }: LaterResponse, isFinal = false): number | undefined {
  if (!LATER.has(status)) return undefined;
  const stated = parseRetryAfter(headers['retry-after'], Date.now());
  return stated ?? (isFinal || status === GATEWAY_TIMEOUT ? undefined : 0);
}

/**
 * Returns the error for a response after which the client may repeat the request. Returns undefined for any other
 * status.
 * @param error the parameters of the error; `cause` is the error in the response's body, if the server explained the
 * problem there
 */
export function laterError(
  response: LaterResponse,
  { cause, ...params }: { readonly place: string; readonly reason: string; readonly cause?: unknown },
): IdentityError | undefined {
  if (!LATER.has(response.status)) return undefined;
  const retryAfterSeconds = secondsUntilRepeat(response, cause !== undefined);
  if (response.status === GATEWAY_TIMEOUT && retryAfterSeconds === undefined && cause === undefined)
    return gatewayTimedOut(params);
  return placeUnavailable(params, defined({ cause, retryAfterSeconds }));
}

export function isLater(error: unknown): error is IdentityError & { readonly retryAfterSeconds: number } {
  return placeUnavailable.is(error) && error.retryAfterSeconds !== undefined;
}
