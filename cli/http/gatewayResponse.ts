// Describes responses of gateways, proxies and other servers that answer instead of the instance.

import { type IdentityError, shortenedText } from '../../shared/errors/identityError.ts';
import { gatewayRefused, placeFailed } from '../../shared/errors/placeErrors.ts';
import type { HttpResponse } from './httpClient.ts';
import { laterError } from './laterResponse.ts';
import { sentenceIn } from './serverSentence.ts';

const LET_PASS = 'configure the gateway in front of the instance to forward the calls of this command';

/**
 * The remedy for each status of a gateway's response. No remedy advises another token, because the gateway does not
 * check the instance's tokens.
 */
const remedies: Readonly<Record<number, string>> = {
  401: `${LET_PASS} without requiring credentials for the gateway`,
  403: `${LET_PASS} from this machine, or call the instance from another network`,
  404: 'check that the address leads to the instance, and that the gateway in front of it forwards all paths',
  405: `${LET_PASS} with the methods GET, POST and DELETE`,
  407: 'reach the instance without that proxy, or configure the proxy to forward these calls without credentials',
  411: `${LET_PASS} with bodies of unknown length (Transfer-Encoding: chunked)`,
  413: 'raise the body size limit of the gateway in front of the instance, such as client_max_body_size of nginx',
  414: 'raise the URL length limit of the gateway in front of the instance',
  417: `${LET_PASS} with the header Expect`,
  431: 'raise the header size limit of the gateway in front of the instance',
  451: `${LET_PASS}, or call the instance from another network`,
  511: 'log in to the network of this machine, then repeat the command',
};

const OTHER = 'check that the address leads to the instance, and that no gateway answers instead of the instance';

export function isRedirection(status: number): boolean {
  return status >= 300 && status < 400;
}

/** Returns the error for a response that a gateway or another server has sent instead of the instance. */
export function gatewayError(place: string, response: HttpResponse, text: string): IdentityError {
  const { status, headers } = response;
  const sentence = sentenceIn(text);
  const reason = sentence === '' ? `status ${status}` : `status ${status}: ${sentence}`;
  const later = laterError(response, { place, reason });
  if (later !== undefined) return later;
  const remedy = remedies[status];
  if (status >= 500 && remedy === undefined) return placeFailed({ place, reason });
  if (isRedirection(status)) return redirectionError(place, response);
  if (status < 300) return gatewayRefused({ place, problem: `responds with ${reason}`, advice: OTHER });
  const scheme = status === 401 || status === 407 ? challenge(headers) : undefined;
  const asked = scheme === undefined ? '' : `, and requires credentials (${scheme})`;
  return gatewayRefused({ place, problem: `refuses: ${reason}${asked}`, advice: remedy ?? OTHER });
}

const NOT_MODIFIED = 304;
const MAX_TARGET_CHARACTERS = 300;

function redirectionError(place: string, { status, headers: { location = '' } }: HttpResponse): IdentityError {
  if (status === NOT_MODIFIED) {
    const advice = `${LET_PASS} without answering from a cache`;
    return gatewayRefused({ place, problem: 'responds with status 304 (not modified), without content', advice });
  }
  const target = location === '' ? undefined : URL.parse(location, place);
  const shown = shortenedText(target?.href ?? location, MAX_TARGET_CHARACTERS) || 'no address: Location is missing';
  const isOther = target !== undefined && target !== null && target.origin !== new URL(place).origin;
  const advice = isOther
    ? `specify ${target.origin}; or, if ${target.origin} is a login page, ${LET_PASS} without a login`
    : `${LET_PASS} without redirecting them`;
  return gatewayRefused({ place, problem: `redirects to ${shown} (status ${status})`, advice });
}

const MAX_CHALLENGE_CHARACTERS = 100;

/** Returns the first characters of the header with which a proxy asks for credentials: scheme and realm. */
function challenge(headers: HttpResponse['headers']): string | undefined {
  const text = headers['www-authenticate'] ?? headers['proxy-authenticate'];
  return text?.toString().slice(0, MAX_CHALLENGE_CHARACTERS);
}
