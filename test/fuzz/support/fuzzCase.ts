import type { Conversation } from '../arbitraries/http2Frames.ts';
import { conversationBytes } from '../http/conversation.ts';
import { type HttpRequest, OWNER, toBytes } from '../http/httpRequest.ts';
import type { Allowance } from './judge.ts';

/** One generated exchange, by the way in which it is sent. */
export type FuzzCase =
  /** A request that is HTTP, whatever else it is: it has one response. */
  | { readonly way: 'kept'; readonly request: HttpRequest }
  /** Requests that are sent at once: each has its own response, in their order. */
  | { readonly way: 'pipelined'; readonly requests: readonly HttpRequest[] }
  /** Bytes that may be no HTTP, after which the client closes its side: the server answers what it can, and closes too. */
  | { readonly way: 'raw'; readonly bytes: Buffer }
  /** One stream of HTTP/2, which the client may reset. */
  | { readonly way: 'http2'; readonly request: HttpRequest; readonly isReset: boolean }
  /** HTTP/2's frames, of which some are against the protocol. The client leaves after the responses. */
  | ({ readonly way: 'conversation' } & Conversation);

/** Returns what a request may cause, by its own words. */
export function allowanceFor(request: HttpRequest): Allowance {
  const { chunks: _split, body: _packed, plain, ...head } = request;
  return allowanceForBytes(toBytes({ ...head, ...(plain === undefined ? {} : { body: plain }) }));
}

/** Returns what bytes may cause. The name of a field may have escapes. */
export function allowanceForBytes(bytes: Buffer): Allowance {
  return { mayTimeOut: /timeout|\\u/i.test(bytes.toString('latin1')) };
}

/** Returns the bytes that a case sends on the wire; of HTTP/2's streams, their HTTP/1 form. */
export function caseBytes(one: FuzzCase): Buffer {
  switch (one.way) {
    case 'raw':
      return one.bytes;
    case 'conversation':
      return conversationBytes(one.frames, OWNER);
    case 'pipelined':
      return Buffer.concat(one.requests.map(toBytes));
    default:
      return toBytes(one.request);
  }
}
