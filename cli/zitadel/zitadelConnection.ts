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

/** A server that may be ZITADEL, for requests without a token. */
export interface ZitadelServer extends CallConnection, Patience {
  /** How often a call without a response is repeated. */
  readonly retries?: RetryPolicy;
}

export interface ZitadelConnection extends ZitadelServer {
  readonly token: string;
  /** The name of the option that specifies the token's file. Errors about the token contain this name. */
  readonly tokenOption: string;
  /** The path of the token's file. Undefined if the user entered the token at the terminal. */
  readonly tokenFile?: string | undefined;
  /** How often a search is repeated if it does not show an expected record yet. */
  readonly polls?: RetryPolicy;
  /** Called with the number of records or events that were just read, for the progress. */
  readonly onRead?: (count: number) => void;
}

export type ZitadelAddress = Omit<ZitadelConnection, 'signal'>;

/**
 * A request without a token, which finds out whether a server is ZITADEL, and which release it has. All other calls use
 * gRPC-Web.
 */
interface ZitadelRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

interface ZitadelResponse {
  readonly status: number;
  readonly text: string;
  /** The time of the response by the server's clock, rounded down to a second. */
  readonly time: Date;
}

/** ZITADEL restarts in less than 5 s. Until then, its gateway returns 503, or connections are refused. */
const defaultRetries: RetryPolicy = { attempts: () => 8, initialDelayMs: 500, maxDelayMs: 8_000 };
/**
 * The maximum number of attempts that time out. Two such attempts take about as long as all repetitions after a lost
 * connection.
 */
const TIMED_OUT_ATTEMPTS = 2;
const UNAVAILABLE_STATUSES = new Set([429, 502, 503, 504]);
const MAX_RESPONSE_BYTES = 1_000_000;

const zitadelErrorBody = z.looseObject({ code: z.number().optional(), message: z.string() });

/**
 * Sends an idempotent request without a token. Repeats the request if ZITADEL is unavailable.
 * @throws IdentityError UNAVAILABLE if no attempt succeeds
 * @throws IdentityError ZITADEL_CALL_FAILED if the response is too large
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
    // If a gateway has removed the header `Date`, this process uses its own time, as RFC 9110 permits.
    return { status, text, time: new Date(response.headers.date ?? Date.now()) };
  };
  return await retried(connection, name, undefined, attempt, isConnectionLost);
}

/**
 * Makes an idempotent call, and repeats it while ZITADEL is unavailable. If a response requests a delay, waits for this
 * time.
 * @param timeoutMs a time limit for this call alone. If the call exceeds it, the call is not repeated
 * @param isTransient whether an error means that ZITADEL is unavailable
 * @throws IdentityError PLACE_TIMED_OUT if the attempts time out
 * @throws the reason of the signal or of the time limit if one of these ends the call
 * @throws the error of the last attempt in all other cases
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

/** Whether an error means that a call has exceeded its own time limit. */
export function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}

/**
 * Returns the message of ZITADEL's error. If the text is not an error of ZITADEL but, for example, a gateway's page,
 * returns the sentence that explains the response.
 */
export function messageIn(text: string): string {
  return plainMessage(zitadelErrorBody.safeParse(parseIfJson(text)).data?.message ?? sentenceIn(text));
}

/** ZITADEL's releases of 2026 append ` ()` to messages that have no error id. */
export function plainMessage(message: string): string {
  return message.replace(/ \(\)$/, '');
}
