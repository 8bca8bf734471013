import { type IncomingMessage, ServerResponse } from 'node:http';
import { constants, Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { Origin } from '../audit/auditEvent.ts';
import type { Code } from '../errors/identityError.ts';
import type { BodyBudget } from './bodyBudget.ts';

/** Node's request, of either protocol. */
export type Incoming = IncomingMessage | Http2ServerRequest;

/** Node's response, of either protocol. */
export type Outgoing = ServerResponse | Http2ServerResponse;

/** The contents of Hono's Context: Node's request and response, if there is a socket, and the request's log fields. */
export interface HttpEnv {
  Bindings: { incoming?: Incoming; outgoing?: Outgoing };
  Variables: { requestId: string; origin: Origin; bodies: BodyBudget; route?: string; rpcCode?: Code };
}

/** Returns Node's response, or undefined without a socket: then `fetch` was called without bindings. */
export function getOutgoing(context: { env?: HttpEnv['Bindings'] }): Outgoing | undefined {
  return context.env?.outgoing;
}

/** Whether a response uses HTTP/1. */
export function isHttp1(outgoing: Outgoing): outgoing is ServerResponse {
  return outgoing instanceof ServerResponse;
}

/** Closes an HTTP/1 connection after this response, unless the headers are already sent. HTTP/2 has frames for that. */
export function closeAfter(outgoing: Outgoing): void {
  if (isHttp1(outgoing) && !outgoing.headersSent) outgoing.setHeader('connection', 'close');
}

/** Whether a response is closed: the client disconnected, or the response was aborted. */
export function isClosed(outgoing: Outgoing): boolean {
  return isHttp1(outgoing) ? outgoing.destroyed : outgoing.stream.destroyed;
}

/** Aborts a response, so that the client cannot mistake the received part for a complete body. */
export function abortResponse(outgoing: Outgoing): void {
  if (isHttp1(outgoing)) outgoing.destroy();
  else outgoing.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/** Waits for an event of a response, or its end. Aborts a response whose client takes nothing for some time. */
export async function untilTaken(outgoing: Outgoing, event: 'drain' | 'close', stallMs: number): Promise<void> {
  if (isClosed(outgoing)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout;
  const watch = () => {
    // Responses to HTTP/1 requests that follow each other get the connection one by one.
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

const awaitingContinue = new WeakSet<Incoming>();

/**
 * Sends `100 Continue` only when the body is read. Otherwise the response saves the client the upload, as after an
 * invalid token or a declared size over the limit.
 */
export function continueOnDemand(incoming: Incoming, outgoing: Outgoing): void {
  awaitingContinue.add(incoming);
  incoming.once('resume', () => {
    if (outgoing.headersSent) return;
    awaitingContinue.delete(incoming);
    outgoing.writeContinue();
  });
}

const expectedBodies = new WeakSet<Request>();

/**
 * Notes that the caller may send this request's body, even if it will not be read: a client that sends everything before
 * it reads then gets the response, instead of a reset.
 */
export function expectBody(request: Request): void {
  expectedBodies.add(request);
}

/** Whether a request's body is expected, which holds only for callers with a valid token. */
export function isBodyExpected(request: Request): boolean {
  return expectedBodies.has(request);
}

/** Whether the rest of a request's body may still arrive. */
export function isBodyComing(incoming: Incoming): boolean {
  return !incoming.complete && !incoming.destroyed && !awaitingContinue.has(incoming);
}

/** Reads and discards the rest of a body over HTTP/1, until it ends or the time is over. */
export async function discardBody(incoming: Incoming, limitMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
  for (const event of ['end', 'close', 'error']) incoming.once(event, () => resolve());
  // The listener of a reader that has stopped would pause the stream again.
  incoming.removeAllListeners('data');
  incoming.resume();
  await promise;
  clearTimeout(timer);
}

/** The time for which the rest of a body may arrive after the end of a connection: a reset could overtake the response. */
const LAST_BYTES_MS = 1_000;

/**
 * Closes an HTTP/1 connection after this response, although a body is coming: its side of the connection ends at once, and
 * the connection itself with the body, which small ones do at once.
 */
export function closeDespiteBody(outgoing: Outgoing): void {
  closeAfter(outgoing);
  const { req, socket } = outgoing;
  if (!isHttp1(outgoing) || socket === null) return;
  // Node calls this after the response.
  socket.destroySoon = () => {
    const destroy = () => void socket.destroy();
    const timer = setTimeout(destroy, LAST_BYTES_MS);
    socket.once('close', () => clearTimeout(timer)).once('error', destroy);
    socket.end();
    if (req.complete) destroy();
    else req.once('end', destroy).once('close', destroy);
  };
}

/** Asks an HTTP/2 client, after the end of the response, to stop sending its body (RFC 9113 8.1). */
export function stopUpload(incoming: Incoming): void {
  if (!(incoming instanceof Http2ServerRequest) || incoming.complete) return;
  incoming.removeAllListeners('data');
  incoming.resume();
  if (incoming.stream.state.remoteClose !== 1) incoming.stream.close(constants.NGHTTP2_NO_ERROR);
}
