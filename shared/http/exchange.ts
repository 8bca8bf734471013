import { type IncomingMessage, ServerResponse } from 'node:http';
import { constants, Http2ServerRequest, type Http2ServerResponse } from 'node:http2';

/** A request of either protocol, as Node hands it over. */
export type Incoming = IncomingMessage | Http2ServerRequest;

/** The answer to it. */
export type Outgoing = ServerResponse | Http2ServerResponse;

/** Whether an answer goes over HTTP/1. */
export function isHttp1(outgoing: Outgoing): outgoing is ServerResponse {
  return outgoing instanceof ServerResponse;
}

/** Lets an HTTP/1 connection end with this answer, where its headers can still say so. HTTP/2 has frames for that. */
export function closeAfter(outgoing: Outgoing): void {
  if (isHttp1(outgoing) && !outgoing.headersSent) outgoing.setHeader('connection', 'close');
}

/** Whether nothing can be written any more: the client has left, or the answer was cut. */
export function isGone(outgoing: Outgoing): boolean {
  return isHttp1(outgoing) ? outgoing.destroyed : outgoing.stream.destroyed;
}

/** Ends an answer in the middle, so that what arrived cannot be taken for the whole. */
export function cut(outgoing: Outgoing): void {
  if (isHttp1(outgoing)) outgoing.destroy();
  else outgoing.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

const unasked = new WeakSet<Incoming>();

/**
 * Holds a client that sent `Expect: 100-continue` until its body is wanted, so that an answer that needs no body
 * (a wrong token, a declared size over the limit) spares it the upload.
 */
export function continueOnDemand(incoming: Incoming, outgoing: Outgoing): void {
  unasked.add(incoming);
  incoming.once('resume', () => {
    if (outgoing.headersSent) return;
    unasked.delete(incoming);
    outgoing.writeContinue();
  });
}

/**
 * Reads and drops what is still to come of a request's body. A socket closed with unread bytes in it is reset,
 * and the reset can overtake the answer: so the answer is only ended after this.
 *
 * @param limitMs after that the rest is left where it is
 * @returns undefined where nothing is to come, and over HTTP/2, which has `refuseRest` for it
 */
export function discardRest(incoming: Incoming, limitMs: number): Promise<void> | undefined {
  if (incoming instanceof Http2ServerRequest) return undefined;
  if (incoming.complete || incoming.destroyed || unasked.has(incoming)) return undefined;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
  for (const event of ['end', 'close', 'error']) incoming.once(event, () => resolve());
  // A reader that has stopped would pause the stream again with its own listener.
  incoming.removeAllListeners('data');
  incoming.resume();
  return promise.finally(() => clearTimeout(timer));
}

/** Once its answer has ended, tells an HTTP/2 client that the rest of its body is not wanted (RFC 9113 8.1). */
export function refuseRest(incoming: Incoming): void {
  if (!(incoming instanceof Http2ServerRequest) || incoming.complete) return;
  incoming.removeAllListeners('data');
  incoming.resume();
  if (incoming.stream.state.remoteClose !== 1) incoming.stream.close(constants.NGHTTP2_NO_ERROR);
}
