import { type IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';

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
