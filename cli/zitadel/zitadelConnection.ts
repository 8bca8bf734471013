// Connections to ZITADEL: the retries of calls, and requests without a token.

import { z } from 'zod';
import {
  placeTimedOut,
  placeUnavailable,
  placeUnreachable,
  zitadelCallFailed,
} from '../../shared/errors/placeErrors.ts';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import { type RetryPolicy, retry } from '../../shared/retry.ts';
import { type CallConnection, callServer, limitAttempt, readBytes } from '../http/httpClient.ts';
import { isLater, secondsUntilRepeat } from '../http/laterResponse.ts';
import { isConnectionLost, type Patience, patiently } from '../http/reconnection.ts';
import { sentenceIn } from '../http/serverSentence.ts';

/** A server that may be ZITADEL, and the signal that ends calls. */
export interface ZitadelServer extends CallConnection, Patience {
  /** The retries of calls without a response. */
  readonly retries?: RetryPolicy;
}

/** A ZITADEL server with its credentials, and the signal that ends calls. */
export interface ZitadelConnection extends ZitadelServer {
  readonly token: string;
  /** The command-line option for the token's file. */
  readonly tokenOption: string;
  /** Undefined for a token that the user entered at the terminal. */
  readonly tokenFile?: string | undefined;
  /** The retries of a search for records that ZITADEL does not show yet. */
  readonly polls?: RetryPolicy;
  /** Called with the number of records or events that were read, to show progress. */
  readonly onRead?: (count: number) => void;
}

/** The address of a ZITADEL server, with its credentials. */
export type ZitadelAddress = Omit<ZitadelConnection, 'signal'>;

/** A request without a token, to recognise ZITADEL or its release. All other calls use gRPC-Web. */
interface ZitadelRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

interface ZitadelResponse {
  readonly status: number;
  readonly text: string;
  /** The time at which the server responded, rounded down to a second. */
  readonly time: Date;
}

/** ZITADEL restarts in less than 5 s. Until then, its gateway returns 503, or connections are refused. */
const defaultRetries: RetryPolicy = { attempts: () => 8, initialDelayMs: 500, maxDelayMs: 8_000 };
/** Two timed-out attempts take about as long as all retries after a lost connection. */
const TIMED_OUT_ATTEMPTS = 2;
const UNAVAILABLE_STATUSES = new Set([429, 502, 503, 504]);
/** The largest response to a request without a token. */
const MAX_RESPONSE_BYTES = 1_000_000;

const zitadelErrorBody = z.looseObject({ code: z.number().optional(), message: z.string() });

/**
 * Sends an idempotent request without a token, and retries it if ZITADEL is unavailable.
 * @throws IdentityError UNAVAILABLE, or ZITADEL_CALL_FAILED if the response is too large
 */
export async function send(
  connection: ZitadelServer,
  { method, path, body }: ZitadelRequest,
): Promise<ZitadelResponse> {
  const { origin } = connection;
  const name = `${method} ${path}`;
  const content = body === undefined ? {} : { body: [Buffer.from(body)] };
  const attempt = async (signal: AbortSignal) => {
    await using response = await callServer(origin, { method, path, ...content }, signal);
    const { status } = response;
    const bytes = await readBytes(response.body, MAX_RESPONSE_BYTES);
    if (bytes.length > MAX_RESPONSE_BYTES)
      throw zitadelCallFailed({ url: origin, call: name, status, message: 'the response is too large' });
    const text = bytes.toString();
    const seconds = secondsUntilRepeat(response, true);
    if (seconds !== undefined)
      throw placeUnavailable({ place: origin, reason: `${status} ${messageIn(text)}` }, { retryAfterSeconds: seconds });
    if (UNAVAILABLE_STATUSES.has(status))
      throw placeUnreachable({ place: origin, reason: `${status} ${messageIn(text)}` });
    // A gateway can remove the header. RFC 9110 then permits the recipient's time.
    return { status, text, time: new Date(response.headers.date ?? Date.now()) };
  };
  return await retried(connection, name, undefined, attempt, isConnectionLost);
}

/**
 * Retries an idempotent call while ZITADEL is unavailable. Waits for the delay that a response requests.
 * @param name the name of the call in messages
 * @param timeoutMs the call's own time limit; a call that exceeds it is not repeated
 * @param isTransient whether an error means that ZITADEL is unavailable
 * @throws the error of the last attempt; IdentityError PLACE_TIMED_OUT; the reason with which a time limit or the
 * signal aborted
 */
export async function retried<Result>(
  connection: ZitadelServer,
  name: string,
  timeoutMs: number | undefined,
  attempt: (signal: AbortSignal) => Promise<Result>,
  isTransient: (error: unknown) => boolean,
): Promise<Result> {
  const { signal, retries = defaultRetries } = connection;
  const mostAttempts = (error: unknown) => {
    if (isLater(error)) return 1;
    if (placeTimedOut.is(error)) return TIMED_OUT_ATTEMPTS;
    return isTransient(error) ? retries.attempts(error) : 1;
  };
  const limited = async () => {
    const limit = limitAttempt(connection, timeoutMs);
    try {
      return await attempt(limit.signal);
    } catch (error) {
      throw limit.error(name) ?? error;
    }
  };
  return await patiently(connection, () => retry({ ...retries, attempts: mostAttempts }, limited, signal));
}

/** Whether a call has exceeded its own time limit. */
export function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}

/** Returns the message in ZITADEL's error body, or a sentence of any other response, such as a gateway's page. */
export function messageIn(text: string): string {
  return plainMessage(zitadelErrorBody.safeParse(parseIfJson(text)).data?.message ?? sentenceIn(text));
}

/** Removes the empty parentheses that the releases of 2026 append to messages without an id. */
export function plainMessage(message: string): string {
  return message.replace(/ \(\)$/, '');
}
