import { type IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { isIP } from 'node:net';
import type { Origin } from '../audit/auditEvent.ts';
import type { Code, IdentityError } from '../errors/identityError.ts';
import type { BodyBudget } from './bodyStorage.ts';

export type Incoming = IncomingMessage | Http2ServerRequest;

export type Outgoing = ServerResponse | Http2ServerResponse;

/** A call from within the same process, which has no connection. */
export interface LocalCall {
  /**
   * Reads the body of the call. It can be read several times, so the application does not store it. If this function is
   * absent, the application receives and stores the body of the request.
   */
  readonly readBody?: () => AsyncIterable<Uint8Array>;
  /** The application passes an unexpected error to this function instead of logging the error. */
  readonly onUnexpected: (error: IdentityError) => void;
}

/**
 * The server aborts `shutdown` when it shuts down, which ends its calls. Without a server, `shutdown` is absent. `local`
 * is present if the call comes from the same process.
 */
export interface HttpEnv {
  Bindings: { incoming?: Incoming; outgoing?: Outgoing; shutdown?: AbortSignal; local?: LocalCall };
  Variables: { requestId: string; origin: Origin; bodies: BodyBudget; route?: string; rpcCode?: Code };
}

export function getOutgoing(context: { env?: HttpEnv['Bindings'] }): Outgoing | undefined {
  return context.env?.outgoing;
}

export function isHttp1(outgoing: Outgoing): outgoing is ServerResponse {
  return outgoing instanceof ServerResponse;
}

/**
 * Sets the header `Connection: close`, so that Node closes the connection after the response. Does nothing if the
 * headers are already sent. Does nothing over HTTP/2 either, because the server itself closes the session.
 */
export function closeAfter(outgoing: Outgoing): void {
  if (isHttp1(outgoing) && !outgoing.headersSent) outgoing.setHeader('connection', 'close');
}

export function isResponseClosed(outgoing: Outgoing): boolean {
  return isHttp1(outgoing) ? outgoing.destroyed : outgoing.stream.destroyed;
}

/** Returns whether the client of a request has closed the connection or, over HTTP/2, has reset the stream. */
export function hasLeft({ socket }: Incoming, outgoing: Outgoing): boolean {
  return isHttp1(outgoing) ? socket.destroyed : outgoing.stream.closed;
}

/** Aborts a response, so that the client does not mistake the received part for a complete body. */
export function abortResponse(outgoing: Outgoing): void {
  if (isHttp1(outgoing)) {
    // Over HTTP/1.0, the end of the connection is the end of the body. Only a reset shows the client that the body is
    // incomplete.
    if (outgoing.req.httpVersionMinor === 0) outgoing.socket?.resetAndDestroy();
    outgoing.destroy();
  }
  // If the stream is already closing, destroy it, because over a broken connection the end of the stream might never
  // arrive.
  else if (outgoing.stream.closed) outgoing.stream.destroy();
  else outgoing.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/** Resolves when a response is closed: after it was sent, or after the client has disconnected. */
export function closed(outgoing: Outgoing): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  outgoing.once('close', () => resolve());
  return promise;
}

/**
 * Waits until a response emits an event or is closed. Aborts the response if the client reads nothing for `stallMs`.
 */
export async function untilTaken(outgoing: Outgoing, event: 'drain' | 'close', stallMs: number): Promise<void> {
  if (isResponseClosed(outgoing)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout;
  const watch = () => {
    // A response to a pipelined HTTP/1 request gets the connection only after the earlier responses. Until then, the
    // client cannot read this response, so start the timer again instead of aborting the response.
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
 * Sends `100 Continue` only when the application reads the body. If the application responds without reading the body,
 * for example because the token is invalid, the client does not have to upload the body.
 */
export function continueOnDemand(incoming: Incoming, outgoing: Outgoing): void {
  incoming.once('resume', () => {
    if (!outgoing.headersSent) outgoing.writeContinue();
  });
}

/**
 * Returns whether a path has a segment `.` or `..`. A backslash also separates segments, and the dots may be
 * percent-encoded.
 */
export function hasDotSegment(target: string): boolean {
  const [path = ''] = target.split(/[?#]/, 1);
  return path.split(/[/\\]/).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}

export function isPercentEncodedUtf8(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the id of the trace from the W3C header or from Google's header. Do not trust this id, because clients choose
 * it.
 */
export function traceFrom(readHeader: (name: string) => string | undefined): string | undefined {
  const [traceparent = '', cloudTrace = ''] = [readHeader('traceparent'), readHeader('x-cloud-trace-context')];
  const [, id] = /^[\da-f]{2}-([\da-f]{32})-/.exec(traceparent) ?? /^([\da-f]{32})(?:$|[/;])/.exec(cloudTrace) ?? [];
  return id;
}

/**
 * Returns the address of the client that sent a request.
 * @param socketAddress the address at the other end of the connection, which may be the address of a proxy
 * @param forwarded the header `X-Forwarded-For`
 * @param trustedProxies how many addresses at the end of this header come from trusted proxies; the client may have
 * written the others
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
