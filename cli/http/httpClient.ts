import { once } from 'node:events';
import http, { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { pipeline } from 'node:stream/promises';
import { defined } from '../../shared/defined.ts';
import { gatewayTimedOut, placeLost, placeTimedOut } from '../../shared/errors/placeErrors.ts';
import { decodeText } from '../../shared/json/utf8Text.ts';
import { isLater } from './laterResponse.ts';
import { type Patience, patiently } from './reconnection.ts';
import { connectionError, connectionReason, trustSystem } from './tls.ts';

export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly token?: string | undefined;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** True to send `Expect: 100-continue`. The server can then reject the call before the body is uploaded. */
  readonly asksFirst?: boolean;
  /** The media type of the body. If absent, the type is JSON. */
  readonly contentType?: string;
  readonly body?: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** A response whose body has not been read yet. Disposing of the response ends the call, on the server too. */
export interface HttpResponse extends AsyncDisposable {
  readonly status: number;
  readonly headers: Readonly<
    Pick<
      IncomingHttpHeaders,
      'content-type' | 'date' | 'location' | 'range' | 'retry-after' | 'www-authenticate' | 'proxy-authenticate'
    >
  >;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Sends a request and streams its body. The time until the response has no limit, because imports can take hours;
 * `fetch` would end a call after five minutes. Does not follow redirections, because no other server must receive the
 * token.
 * @param signal ends the call, on the server too
 * @throws IdentityError if no response arrives, or if the connection breaks while the caller reads the response; the
 * errors of reading the call's `body`; the signal's reason after an abort
 */
export async function callServer(origin: string, call: HttpCall, signal: AbortSignal): Promise<HttpResponse> {
  signal.throwIfAborted();
  const { method, path, token, accept = 'application/json', contentType = 'application/json', body = [] } = call;
  const url = new URL(path, origin);
  const moment = `the response to ${method} ${url.pathname}`;
  const headers = {
    ...call.headers,
    accept,
    ...defined({
      authorization: token && `Bearer ${token}`,
      'content-type': call.body && contentType,
      expect: call.asksFirst === true ? '100-continue' : undefined,
    }),
  };
  const request = (url.protocol === 'https:' ? https : http).request(url, { method, headers });
  // Do not pass `signal` to `request`: after the response has arrived, the request would pass the signal's reason on to
  // the socket. The socket has no listener for errors, so the process would end.
  const stop = () => request.destroy();
  signal.addEventListener('abort', stop, { once: true });
  request.once('close', () => signal.removeEventListener('abort', stop));
  // This handler ignores errors of the request. If the response has begun, the reader of the response receives the
  // error too.
  request.on('error', () => undefined);
  let sourceFailure: unknown;
  async function* source(): AsyncGenerator<Uint8Array> {
    try {
      if (call.asksFirst !== true || (await isAskedFor(request))) yield* body;
    } catch (error) {
      // If reading the body fails, the request fails too. The caller must receive the first of these two errors,
      // because it is the cause.
      sourceFailure = error;
      throw error;
    }
  }
  const responded = once(request, 'response');
  // Sending fails if the server responds before it has received the whole body. The response then contains the reason,
  // so ignore the error of sending. If the connection breaks, a piped stream would throw an error into the source;
  // `pipeline` does not.
  const sent = pipeline(source, request).catch(() => undefined);
  try {
    const [response]: IncomingMessage[] = await responded;
    if (response === undefined) throw new Error('the request has no response');
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: receive(response, { place: origin, moment: `during ${moment}` }, signal),
      [Symbol.asyncDispose]: async () => void request.destroy(),
    };
  } catch (error) {
    request.destroy();
    await sent;
    signal.throwIfAborted();
    if (call.body === undefined && trustSystem(error)) return callServer(origin, call, signal);
    throw sourceFailure ?? (await connectionError(origin, error, `before ${moment}`));
  }
}

/** @throws IdentityError PLACE_LOST if the connection breaks; the signal's reason after an abort */
async function* receive(
  response: IncomingMessage,
  lost: { readonly place: string; readonly moment: string },
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    yield* response;
  } catch (error) {
    signal.throwIfAborted();
    throw placeLost({ ...lost, reason: connectionReason(error) });
  }
}

/** The default time limit of each attempt at a short call. A call or a connection can have another limit. */
const RESPONSE_LIMIT_MS = 30_000;

export interface CallConnection {
  /** The address without a trailing slash. */
  readonly origin: string;
  readonly signal: AbortSignal;
  /**
   * The time limit in milliseconds of each attempt at a call that has no limit of its own. If absent, the limit is 30
   * s.
   */
  readonly responseLimitMs?: number;
}

interface AttemptLimit {
  readonly signal: AbortSignal;
  /**
   * Called with the name of a failed call. Returns the timeout error if the attempt has exceeded the connection's
   * limit, or undefined if the attempt failed for another reason.
   * @throws the reason of the connection's signal; a timeout error if the attempt has exceeded the call's own limit
   */
  readonly error: (call: string) => Error | undefined;
}

/** @param timeoutMs the call's own limit; if absent, the limit of the connection applies */
export function limitAttempt(connection: CallConnection, timeoutMs?: number): AttemptLimit {
  const { origin, responseLimitMs = RESPONSE_LIMIT_MS } = connection;
  const limit = AbortSignal.timeout(timeoutMs ?? responseLimitMs);
  return {
    signal: AbortSignal.any([connection.signal, limit]),
    error: (call) => {
      connection.signal.throwIfAborted();
      if (timeoutMs !== undefined) limit.throwIfAborted();
      return limit.aborted ? placeTimedOut({ place: origin, call, seconds: responseLimitMs / 1_000 }) : undefined;
    },
  };
}

interface BrieflyCalled<Call> extends Pick<Patience, 'onRetry'> {
  readonly name: string;
  readonly send: (call: Call, signal: AbortSignal) => Promise<HttpResponse>;
}

/**
 * Sends a short idempotent request and reads the response. Each attempt has a time limit. Repeats the request if the
 * connection breaks, if a gateway's time limit ends the request, or if the response asks for a repetition.
 * @throws IdentityError PLACE_TIMED_OUT; the errors of `send` and `read`
 */
export async function callBriefly<Call extends Pick<HttpCall, 'method' | 'path'>, Result>(
  { name: place, send, onRetry }: BrieflyCalled<Call>,
  call: Call,
  signal: AbortSignal,
  read: (response: HttpResponse) => Promise<Result>,
): Promise<Result> {
  const attempt = async () => {
    const limit = limitAttempt({ origin: place, signal });
    try {
      await using response = await send(call, limit.signal);
      return await read(response);
    } catch (error) {
      throw limit.error(`${call.method} ${call.path}`) ?? error;
    }
  };
  return await patiently({ onRetry, signal }, attempt, isTransient);
}

function isTransient(error: unknown): boolean {
  return isLater(error) || gatewayTimedOut.is(error) || placeLost.is(error);
}

/**
 * The time after which the body is sent although the server has not asked for it. Some servers ignore `Expect` and wait
 * for the body (RFC 9110 10.1.1).
 */
const CONTINUE_MS = 1_000;

/**
 * Waits until the server reacts to `Expect: 100-continue`. Returns true if the server asks for the body, or does not
 * react in time; false if it responds or closes the connection first.
 */
async function isAskedFor(request: ClientRequest): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  request.once('continue', () => resolve(true)).once('response', () => resolve(false));
  request.once('close', () => resolve(false));
  const timer = setTimeout(resolve, CONTINUE_MS, true);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

/** Reads a response's body as text, and truncates it after `maxBytes` bytes. */
export async function readText(
  { body, headers }: Pick<HttpResponse, 'body' | 'headers'>,
  maxBytes: number,
): Promise<string> {
  const bytes = (await readBytes(body, maxBytes)).subarray(0, maxBytes);
  return decodeText(bytes, charsetIn(headers['content-type']));
}

/**
 * If the connection breaks, returns the part of the text that has arrived, because the status alone already describes
 * the error.
 */
export function readErrorText({ body, ...response }: HttpResponse, maxBytes: number): Promise<string> {
  return readText({ ...response, body: untilLost(body) }, maxBytes);
}

async function* untilLost(body: HttpResponse['body']): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    if (!placeLost.is(error)) throw error;
  }
}

/** Returns the encoding in a content type; undefined if there is none or if it is unknown. */
function charsetIn(type = ''): string | undefined {
  const [, charset] = /;\s*charset="?([\w-]+)/i.exec(type) ?? [];
  try {
    return charset && new TextDecoder(charset).encoding;
  } catch {
    return undefined;
  }
}

/** Reads a body. If it is larger than `maxBytes`, stops after the chunk that exceeds this limit. */
export async function readBytes(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > maxBytes) break;
  }
  return Buffer.concat(chunks);
}
