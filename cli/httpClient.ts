// The HTTP client for instances and ZITADELs.

import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { pipeline } from 'node:stream/promises';
import { placeTimedOut } from '../shared/errors/placeErrors.ts';
import { connectionError, trustSystem } from './tls.ts';

/** A call of an instance or a ZITADEL. */
export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly token?: string | undefined;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the server is asked for the body first: a call that it rejects then costs no upload, and no reset. */
  readonly asksFirst?: boolean;
  /** The media type of the body; by default JSON. */
  readonly contentType?: string;
  readonly body?: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** The response to a call, whose body is not yet read. The caller disposes of it, which ends the call on the server too. */
export interface HttpResponse extends Disposable {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: IncomingMessage;
}

/**
 * Sends a request and streams its body, of any size. Nothing limits the time until the response, as imports take theirs
 * (`fetch` ends a call after five minutes without one); redirections are not followed, so that a token stays where it was
 * sent.
 * @param signal ends the call, on the server too
 * @throws IdentityError when there is no response; the errors of `body`; the signal's reason
 */
export async function callServer(origin: string, call: HttpCall, signal: AbortSignal): Promise<HttpResponse> {
  signal.throwIfAborted();
  const { method, path, token, accept = 'application/json', contentType = 'application/json', body = [] } = call;
  const url = new URL(path, origin);
  const headers = {
    ...call.headers,
    accept,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(call.body === undefined ? {} : { 'content-type': contentType }),
    ...(call.asksFirst === true ? { expect: '100-continue' } : {}),
  };
  const request = (url.protocol === 'https:' ? https : http).request(url, { method, headers, signal });
  // Once there is a response, its body says whether the connection breaks.
  request.on('error', () => undefined);
  let sourceFailure: unknown;
  async function* source(): AsyncGenerator<Uint8Array> {
    try {
      if (call.asksFirst !== true || (await isAskedFor(request))) yield* body;
    } catch (error) {
      // A broken request would hide it.
      sourceFailure = error;
      throw error;
    }
  }
  const responded = once(request, 'response');
  // It fails when the response comes before the body's end, and the response then says why. A stream would throw a broken
  // connection into the source, as a failure of that.
  const sent = pipeline(source, request).catch(() => undefined);
  try {
    const [response]: IncomingMessage[] = await responded;
    if (response === undefined) throw new Error('the request has no response');
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: response,
      [Symbol.dispose]: () => void request.destroy(),
    };
  } catch (error) {
    request.destroy();
    await sent;
    signal.throwIfAborted();
    if (call.body === undefined && trustSystem(error)) return callServer(origin, call, signal);
    throw sourceFailure ?? (await connectionError(origin, error));
  }
}

/** The time limit of a call that takes a server little work, in milliseconds. */
const RESPONSE_LIMIT_MS = 30_000;

/** The server that a call reaches, and what ends the call. */
export interface CallConnection {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly signal: AbortSignal;
  /** The time limit of one attempt at a call without its own, in milliseconds; by default 30 s. */
  readonly responseLimitMs?: number;
}

/** A time limit of an attempt at a call. */
interface AttemptLimit {
  /** Ends the attempt. */
  readonly signal: AbortSignal;
  /**
   * Returns the error of an attempt that was ended; undefined for one that failed by itself.
   * @throws the reason of the connection's signal, or of the call's own time limit
   */
  readonly error: (call: string) => Error | undefined;
}

/** Limits an attempt at a call, by the call's own time limit if it has one. */
export function limitAttempt(connection: CallConnection, timeoutMs?: number): AttemptLimit {
  const { baseUrl, responseLimitMs = RESPONSE_LIMIT_MS } = connection;
  const limit = AbortSignal.timeout(timeoutMs ?? responseLimitMs);
  return {
    signal: AbortSignal.any([connection.signal, limit]),
    error: (call) => {
      connection.signal.throwIfAborted();
      if (timeoutMs !== undefined) limit.throwIfAborted();
      return limit.aborted ? placeTimedOut(baseUrl, call, responseLimitMs / 1_000) : undefined;
    },
  };
}

/**
 * Sends a request that takes a server little work, and reads the response, both within a time limit.
 * @throws IdentityError PLACE_TIMED_OUT; what `callServer` and `read` throw
 */
export async function callBriefly<Result>(
  origin: string,
  call: HttpCall,
  signal: AbortSignal,
  read: (response: HttpResponse) => Promise<Result>,
): Promise<Result> {
  const limit = limitAttempt({ baseUrl: origin, signal });
  try {
    using response = await callServer(origin, call, limit.signal);
    return await read(response);
  } catch (error) {
    throw limit.error(`${call.method} ${call.path}`) ?? error;
  }
}

/** Servers that do not know the header ask for nothing (RFC 9110 10.1.1). */
const CONTINUE_MS = 1_000;

/** Whether the server wants a request's body, or says nothing; false as soon as it responds without it. */
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

/** Reads a response of limited size as text; what exceeds it is cut off. */
export async function readText(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  return (await readBytes(body, maxBytes)).toString('utf8', 0, maxBytes);
}

/** Reads a response until it has more bytes than the limit. */
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
