// The listener that passes Node's requests to an application and writes its responses. @hono/node-server converts
// requests. We write responses ourselves, because exports stream for minutes. A failure before the first byte becomes
// an error response. A later failure aborts the response, so that the client cannot mistake it for a complete file. A
// client that does not read loses its connection instead of keeping a snapshot open. RPCs also need trailers.

import { constants, Http2ServerRequest } from 'node:http2';
import type { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { getRequestListener, type Http2Bindings, type HttpBindings, RequestError } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { httpMalformed } from '../errors/httpErrors.ts';
import { log, requestFields } from '../log.ts';
import type { ConcurrencyLimit } from './concurrency.ts';
import {
  abortResponse,
  type Incoming,
  isHttp1,
  isResponseClosed,
  type Outgoing,
  traceFrom,
  untilTaken,
} from './nodeResponse.ts';
import { completeContent, errorResponse, newRequestId } from './responses.ts';

/** A fetch handler, such as a Hono application. */
export interface Application {
  fetch(request: Request, env: (HttpBindings | Http2Bindings) & Shutdown): Response | Promise<Response>;
}

/** The signal by which a server ends its calls on shutdown. Its reason is the error to respond with. */
interface Shutdown {
  readonly shutdown: AbortSignal;
}

export type RequestListener = (incoming: Incoming, outgoing: Outgoing) => Promise<void>;

/**
 * Creates a Node request listener that passes requests to an application, with unread bodies, and writes the responses.
 * @param stallMs the time without reads by the client after which a response is aborted
 * @param places the limit that counts a request until its response is complete, even if the client has not read it yet
 * @param shutdown the signal that ends the calls of the application
 */
export function requestListener(
  app: Application,
  stallMs: number,
  places: ConcurrencyLimit,
  shutdown: AbortSignal,
): RequestListener {
  return getRequestListener(
    async (request, env) => {
      using place = places.enter();
      const response = await app.fetch(request, { ...env, shutdown });
      await writeResponse(response, env.outgoing, { stallMs, onComplete: () => place[Symbol.dispose]() });
      return RESPONSE_ALREADY_SENT;
    },
    {
      // The host of requests without a Host header. HTTP/1.0, with which load balancers probe, does not require the
      // header.
      hostname: 'localhost',
      overrideGlobalObjects: false,
      autoCleanupIncoming: false,
      errorHandler: (error) => errorResponse(error instanceof RequestError ? httpMalformed() : error, newRequestId()),
    },
  );
}

export interface WriteOptions {
  /** Aborts the response if its client does not read for this time. */
  readonly stallMs: number;
  /** Called when the response is complete, even if the client has not read it yet. */
  readonly onComplete?: () => void;
}

/** The size of a write. A connection must accept each write within `stallMs`. */
const PART_BYTES = 64 * 1024;

/**
 * Writes a response to its socket with backpressure; never rejects. A body that fails before its first bytes becomes an
 * error response. A later failure is logged, and aborts the response, so that the client cannot mistake the received
 * part for a complete body. A client that disconnects cancels the body. If a response has a `trailer` header, its
 * trailers are already set on `outgoing`. Such a response has no content length, because HTTP/1 sends trailers only
 * with chunked encoding.
 */
export async function writeResponse(response: Response, outgoing: Outgoing, options: WriteOptions): Promise<void> {
  const content = completeContent(response);
  const reader = content === undefined ? response.body?.getReader() : undefined;
  const cancel = () => void reader?.cancel().catch(() => undefined);
  if (reader !== undefined) outgoing.once('close', cancel);
  try {
    const body = reader === undefined ? completeBody(content) : await readBodyStart(reader);
    if (body.length !== undefined) options.onComplete?.();
    await writeBody(response, body, outgoing, options);
  } catch (error) {
    await writeFailure(error, response, outgoing, options);
  } finally {
    outgoing.off('close', cancel);
  }
}

async function writeFailure(error: unknown, response: Response, outgoing: Outgoing, options: WriteOptions) {
  const requestId = response.headers.get('x-request-id') ?? '';
  const { headers } = outgoing.req;
  const trace = traceFrom((name) => headers[name]?.toString());
  if (!outgoing.headersSent) return writeResponse(errorResponse(error, requestId, undefined, trace), outgoing, options);
  if (!isResponseClosed(outgoing))
    log.error({ stack_trace: error, ...requestFields(requestId, trace) }, 'response aborted');
  abortResponse(outgoing);
}

async function writeBody(response: Response, body: ResponseBody, outgoing: Outgoing, { stallMs }: WriteOptions) {
  const { req } = outgoing;
  // Wait once: the parser may still be processing the last bytes of the request.
  if (!req.complete) await setImmediate();
  setHead(response, outgoing, body.length);
  // Node writes the head and a small body together.
  if (body.small === undefined) {
    await writeChunks(outgoing, body, stallMs);
    outgoing.end();
  } else outgoing.end(body.small);
  stopUpload(req);
  // Abort the response if its client does not read. Over HTTP/1 without unwritten bytes, no client can delay the end.
  if (!isHttp1(outgoing) || outgoing.writableLength > 0) void untilTaken(outgoing, 'close', stallMs);
}

const NO_CONTENT = 204;

// Sets headers without writing them: Node sends them with `end`, so an empty HTTP/2 response needs no data frame.
function setHead(response: Response, outgoing: Outgoing, length: number | undefined): void {
  for (const [name, value] of response.headers) outgoing.setHeader(name, value);
  // Omit the length for HEAD. It would have to be the length of the response to GET, which is unknown here.
  const isHead = outgoing.req.method === 'HEAD';
  const mayHaveLength = !isHead && !response.headers.has('trailer') && response.status !== NO_CONTENT;
  if (length !== undefined && mayHaveLength && (length > 0 || isHttp1(outgoing)))
    outgoing.setHeader('content-length', length);
  outgoing.statusCode = response.status;
  if (isHttp1(outgoing) || outgoing.req.complete || response.headers.has('trailer') || isResponseClosed(outgoing))
    return;
  // End an empty response with its head. Node would end it in a separate frame; if a reset arrived before that frame,
  // some clients would see no response.
  outgoing.stream.respond({ ...outgoing.getHeaders(), ':status': response.status }, { endStream: length === 0 });
}

async function writeChunks(
  outgoing: Writable & Outgoing,
  { chunks, closed }: ResponseBody,
  stallMs: number,
): Promise<void> {
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.byteLength; start += PART_BYTES) {
      if (isResponseClosed(outgoing)) return;
      if (outgoing.write(chunk.subarray(start, start + PART_BYTES))) continue;
      const taken = untilTaken(outgoing, 'drain', stallMs);
      await Promise.race([taken, closed?.then(() => taken) ?? taken]);
    }
  }
}

/**
 * Ignores the rest of the request's body after the response has ended. Asks an HTTP/2 client to stop sending the body
 * (RFC 9113 8.1).
 */
function stopUpload(incoming: Incoming): void {
  if (incoming.complete) return;
  // A remaining listener would pause the stream again.
  incoming.removeAllListeners('data');
  incoming.resume();
  if (incoming instanceof Http2ServerRequest && incoming.stream.state.remoteClose !== 1)
    incoming.stream.close(constants.NGHTTP2_NO_ERROR);
}

/** A response body after its first chunk was read. */
interface ResponseBody {
  /** The length in bytes if the body is complete; undefined if more chunks may follow. */
  readonly length: number | undefined;
  /** The whole content, if it is known and small enough for a single write. */
  readonly small?: Uint8Array;
  /** All chunks, including the first. */
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Rejects when the body fails, even while the client does not read. */
  readonly closed?: Promise<unknown>;
}

/** Returns a body whose content is known; undefined for an empty body. */
function completeBody(content: Uint8Array | undefined): ResponseBody {
  if (content === undefined) return { length: 0, chunks: [] };
  const { byteLength: length } = content;
  return { length, chunks: [content], ...(length <= PART_BYTES ? { small: content } : {}) };
}

/**
 * Reads a response's first chunk before any header is sent, so that an immediate failure can become an error response.
 * Determines the length if the body is already complete, without waiting for more chunks.
 */
async function readBodyStart(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<ResponseBody> {
  const first = await reader.read();
  const second = first.done ? Promise.resolve(first) : reader.read();
  const isComplete = await Promise.race([second.then(({ done }) => done), setImmediate(false)]);
  // Reading `chunks` throws this error. Until then, this handler prevents an unhandled rejection.
  second.catch(() => undefined);
  const length = isComplete ? (first.value?.byteLength ?? 0) : undefined;
  return { length, chunks: chain(reader, first, second), closed: reader.closed };
}

type ReadChunk = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>>;

async function* chain(reader: ReadableStreamDefaultReader<Uint8Array>, first: ReadChunk, second: Promise<ReadChunk>) {
  if (first.done) return;
  yield first.value;
  for (let result = await second; !result.done; result = await reader.read()) yield result.value;
}
