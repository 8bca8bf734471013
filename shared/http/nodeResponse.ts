// Node's requests and responses over both HTTP versions: state, aborts and client.

import { type IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { isIP } from 'node:net';
import type { Origin } from '../audit/auditEvent.ts';
import type { Code, IdentityError } from '../errors/identityError.ts';
import type { BodyBudget } from './bodyStorage.ts';

/** Node's request, over HTTP/1 or HTTP/2. */
export type Incoming = IncomingMessage | Http2ServerRequest;

/** Node's response, over HTTP/1 or HTTP/2. */
export type Outgoing = ServerResponse | Http2ServerResponse;

/** A call from the same process as the application. */
export interface LocalCall {
  /**
   * Reads the body, which may be read repeatedly, so the application does not store it. By default, the application
   * receives and stores the body of the request.
   */
  readonly readBody?: () => AsyncIterable<Uint8Array>;
  /** Receives an unexpected error, which would otherwise be logged. The response does not contain its text. */
  readonly onUnexpected: (error: IdentityError) => void;
}

/**
 * The contents of Hono's Context. `shutdown` is the signal by which a server ends its calls on shutdown, if there is a
 * server. `local` is set for a call from the same process.
 */
export interface HttpEnv {
  Bindings: { incoming?: Incoming; outgoing?: Outgoing; shutdown?: AbortSignal; local?: LocalCall };
  Variables: { requestId: string; origin: Origin; bodies: BodyBudget; route?: string; rpcCode?: Code };
}

/** Returns Node's response; undefined if `fetch` was called without a connection. */
export function getOutgoing(context: { env?: HttpEnv['Bindings'] }): Outgoing | undefined {
  return context.env?.outgoing;
}

export function isHttp1(outgoing: Outgoing): outgoing is ServerResponse {
  return outgoing instanceof ServerResponse;
}

/**
 * Closes an HTTP/1 connection after this response, unless the headers are already sent. An HTTP/2 session does not need
 * this.
 */
export function closeAfter(outgoing: Outgoing): void {
  if (isHttp1(outgoing) && !outgoing.headersSent) outgoing.setHeader('connection', 'close');
}

/** Whether a response is closed: the client disconnected, or the response was aborted. */
export function isResponseClosed(outgoing: Outgoing): boolean {
  return isHttp1(outgoing) ? outgoing.destroyed : outgoing.stream.destroyed;
}

/** Whether a request's client has disconnected: its connection is closed, or its stream is reset. */
export function hasLeft({ socket }: Incoming, outgoing: Outgoing): boolean {
  return isHttp1(outgoing) ? socket.destroyed : outgoing.stream.closed;
}

/** Aborts a response, so that the client cannot mistake the received part for a complete body. */
export function abortResponse(outgoing: Outgoing): void {
  if (isHttp1(outgoing)) {
    // Without chunks, an HTTP/1.0 body ends when the connection closes, so only a reset shows that the body is
    // incomplete.
    if (outgoing.req.httpVersionMinor === 0) outgoing.socket?.resetAndDestroy();
    outgoing.destroy();
  }
  // The end of a stream may wait forever for a broken connection, so destroy a stream that is already closing.
  else if (outgoing.stream.closed) outgoing.stream.destroy();
  else outgoing.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/** Resolves when a response is closed: it was sent, or its client has disconnected. */
export function closed(outgoing: Outgoing): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  outgoing.once('close', () => resolve());
  return promise;
}

/**
 * Waits for an event of a response, or until the response is closed. Aborts the response if its client does not read
 * for `stallMs`.
 */
export async function untilTaken(outgoing: Outgoing, event: 'drain' | 'close', stallMs: number): Promise<void> {
  if (isResponseClosed(outgoing)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout;
  const watch = () => {
    // A pipelined HTTP/1 response waits for the responses before it. Until it has the connection, no client can
    // read it.
    const hasConnection = outgoing.socket !== null;
    timer = setTimeout(() => (hasConnection ? abortResponse(outgoing) : watch()), stallMs);
  };
  const end = () => {
    clearTimeout(timer);
    outgoing.off(event, end).off('close', end);
    resolve();
  };
  watch();
  outgoing.on(event, end).on('close', end);
  await promise;
}

/**
 * Sends `100 Continue` only when the body is read. If the response comes first, for example because the token is
 * invalid or the declared size exceeds the limit, the client need not upload the body.
 */
export function continueOnDemand(incoming: Incoming, outgoing: Outgoing): void {
  incoming.once('resume', () => {
    if (!outgoing.headersSent) outgoing.writeContinue();
  });
}

/** Whether a segment of a request's path is a dot segment, as URLs define it, including backslashes and escapes. */
export function hasDotSegment(target: string): boolean {
  const [path = ''] = target.split(/[?#]/, 1);
  return path.split(/[/\\]/).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}

/** Whether every escape of a path or query is valid. */
export function isPercentEncodedUtf8(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the trace's id from the W3C header or from Google's header. Do not trust the value: clients choose it, like
 * the request id.
 */
export function traceFrom(readHeader: (name: string) => string | undefined): string | undefined {
  const [traceparent = '', cloudTrace = ''] = [readHeader('traceparent'), readHeader('x-cloud-trace-context')];
  const [, id] = /^[\da-f]{2}-([\da-f]{32})-/.exec(traceparent) ?? /^([\da-f]{32})(?:$|[/;])/.exec(cloudTrace) ?? [];
  return id;
}

/**
 * Returns the address of a request's client.
 * @param socketAddress the address at the other end of the connection
 * @param forwarded the header `X-Forwarded-For`
 * @param trustedProxies the number of addresses that trusted proxies append to the header; the client may have written
 * the other addresses
 */
export function clientAddress(
  socketAddress: string | undefined,
  forwarded: string | undefined,
  trustedProxies: number,
): string | undefined {
  const reported = trustedProxies === 0 ? undefined : forwarded?.split(',').at(-trustedProxies)?.trim();
  return reported === undefined || isIP(reported) === 0 ? withoutPrefix(socketAddress) : reported;
}

const IPV4_PREFIX = '::ffff:';

function withoutPrefix(address: string | undefined): string | undefined {
  return address?.startsWith(IPV4_PREFIX) === true ? address.slice(IPV4_PREFIX.length) : address;
}
