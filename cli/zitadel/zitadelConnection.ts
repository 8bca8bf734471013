// Calls of a ZITADEL over REST.

import { z } from 'zod';
import {
  placeTimedOut,
  placeTokenForbidden,
  placeTokenRejected,
  placeUnreachable,
  zitadelCallFailed,
} from '../../shared/errors/placeErrors.ts';
import { parseIfJson } from '../../shared/json/jsonObject.ts';
import { type RetryPolicy, retry } from '../../shared/retry.ts';
import { type CallConnection, callServer, limitAttempt, readBytes } from '../http/httpClient.ts';
import { connectionReason } from '../http/tls.ts';
import { hasErrorId } from './errorIds.ts';

/** A ZITADEL with the credentials for it, and the signal that ends calls. */
export interface ZitadelConnection extends CallConnection {
  /** Undefined for calls without a token. */
  readonly token: string | undefined;
  /** The option of the token's file. */
  readonly tokenOption: string;
  /** Undefined for a token that was entered at the terminal. */
  readonly tokenFile?: string | undefined;
  /** The retries of calls without a response. */
  readonly retries?: RetryPolicy;
  /** The repetitions of searches for records that the ZITADEL does not show yet. */
  readonly polls?: RetryPolicy;
}

/** A ZITADEL with the credentials for it. */
export type ZitadelAddress = Omit<ZitadelConnection, 'signal'>;

/** A call of ZITADEL's REST interface. Calls with an id in the path or in a header go over gRPC-Web instead. */
export interface ZitadelCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  /** The call's own time limit, in milliseconds, after which it is not repeated. */
  readonly timeoutMs?: number;
}

/** A response of a ZITADEL. */
export interface ZitadelResponse {
  readonly status: number;
  readonly text: string;
  /** The number of attempts; each of them may have started an import. */
  readonly attempts: number;
}

/** A ZITADEL restarts in under 5 s. Meanwhile its gateway returns 503, or connections are refused. */
const defaultRetries: RetryPolicy = { attempts: () => 8, initialDelayMs: 500, maxDelayMs: 8_000 };
/** Two time limits of a call take about as long as the retries of a lost connection. */
const TIMED_OUT_ATTEMPTS = 2;
const UNAVAILABLE_STATUSES = new Set([502, 503]);
/** An export of one organisation over REST has 4 MiB of protobuf; its JSON is larger. */
export const MAX_RESPONSE_BYTES = 64_000_000;

/** The gateway's text for a message above its limit of 4 MiB. Calls over gRPC-Web do not pass the gateway. */
export const MESSAGE_TOO_LARGE = 'received message larger than max';

const zitadelErrorBody = z.looseObject({ code: z.number().optional(), message: z.string() });

/**
 * Sends an idempotent call, and retries it if the ZITADEL is unavailable.
 * @throws IdentityError UNAVAILABLE, or for a response that is too large; `DOMException` TimeoutError after the call's own
 * time limit
 */
export async function send(connection: ZitadelConnection, call: ZitadelCall): Promise<ZitadelResponse> {
  const { origin, token } = connection;
  const { method, path, body, timeoutMs } = call;
  const name = `${method} ${path}`;
  const content = body === undefined ? {} : { body: [Buffer.from(body)] };
  const attempt = async (signal: AbortSignal) => {
    await using response = await callServer(origin, { method, path, token, ...content }, signal);
    const { status } = response;
    const bytes = await readBytes(response.body, MAX_RESPONSE_BYTES).catch((error: unknown) => {
      throw placeUnreachable({ place: origin, reason: connectionReason(error) });
    });
    if (bytes.length > MAX_RESPONSE_BYTES)
      throw zitadelCallFailed({ url: origin, call: name, status, message: excess(MAX_RESPONSE_BYTES) });
    const text = bytes.toString();
    if (isUnavailable(status, text)) throw placeUnreachable({ place: origin, reason: `${status} ${messageIn(text)}` });
    return { status, text };
  };
  return await retried(connection, name, timeoutMs, attempt, (error) => placeUnreachable.is(error));
}

/** Whether a server asks to repeat a call later. ZITADEL returns 429 also for messages above its limit. */
function isUnavailable(status: number, text: string): boolean {
  return UNAVAILABLE_STATUSES.has(status) || (status === 429 && !messageIn(text).includes(MESSAGE_TOO_LARGE));
}

/**
 * Attempts an idempotent call until the ZITADEL is available.
 * @param name the call in messages
 * @param timeoutMs the call's own time limit, after which it is not repeated
 * @param isTransient whether an error means that the ZITADEL is unavailable
 * @throws the last error of an attempt; IdentityError PLACE_TIMED_OUT; the reason of a time limit or signal
 */
export async function retried<Result>(
  connection: ZitadelConnection,
  name: string,
  timeoutMs: number | undefined,
  attempt: (signal: AbortSignal) => Promise<Result>,
  isTransient: (error: unknown) => boolean,
): Promise<Result & { readonly attempts: number }> {
  const { signal, retries = defaultRetries } = connection;
  const mostAttempts = (error: unknown) => {
    if (placeTimedOut.is(error)) return TIMED_OUT_ATTEMPTS;
    return isTransient(error) ? retries.attempts(error) : 1;
  };
  let attempts = 0;
  const limited = async () => {
    attempts++;
    const limit = limitAttempt(connection, timeoutMs);
    try {
      return { ...(await attempt(limit.signal)), attempts };
    } catch (error) {
      throw limit.error(name) ?? error;
    }
  };
  return await retry({ ...retries, attempts: mostAttempts }, limited, signal);
}

/** Whether a call has exceeded its own time limit. */
export function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError';
}

/** Returns the message for a response above the size limit. */
export function excess(maxBytes: number): string {
  return `the response has more than ${maxBytes / 1_000_000} MB`;
}

/**
 * Sends a call and returns its response's JSON.
 * @throws IdentityError for any status but 200
 */
export async function request<Schema extends z.ZodType>(
  connection: ZitadelConnection,
  call: ZitadelCall,
  schema: Schema,
): Promise<z.output<Schema>> {
  const response = await send(connection, call);
  if (response.status !== 200) throw callError(connection, call, response);
  const parsed = schema.safeParse(parseIfJson(response.text));
  if (parsed.success) return parsed.data;
  throw callError(connection, call, { ...response, text: z.prettifyError(parsed.error) });
}

/** Creates the error for an unexpected response. */
export function callError(
  connection: ZitadelConnection,
  { method, path }: Pick<ZitadelCall, 'method' | 'path'>,
  { status, text }: Pick<ZitadelResponse, 'status' | 'text'>,
): Error {
  const { origin, tokenOption } = connection;
  const message = messageIn(text);
  if (status === 401) return placeTokenRejected(origin, connection, message);
  // A caller without any membership gets 404.
  if (status === 403 || hasErrorId(message, 'noMembership')) return placeTokenForbidden(origin, tokenOption, message);
  return zitadelCallFailed({ url: origin, call: `${method} ${path}`, status, message });
}

const SHOWN_CHARACTERS = 300;

/** Returns the message of an error body, or the beginning of another text. */
export function messageIn(text: string): string {
  return plainMessage(zitadelErrorBody.safeParse(parseIfJson(text)).data?.message ?? text.slice(0, SHOWN_CHARACTERS));
}

/** Removes the empty parentheses that the releases of 2026 append to messages without an id. */
export function plainMessage(message: string): string {
  return message.replace(/ \(\)$/, '');
}
