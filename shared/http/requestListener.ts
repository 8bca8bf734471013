// Passes Node's requests to an application, and writes the responses. @hono/node-server converts the requests. We write
// the responses ourselves, because exports stream for minutes, and RPCs need trailers. If a body fails before its first
// byte, the client receives an error response. If it fails later, the response is aborted, so that the client cannot
// mistake a part for a complete file. If a client stops reading, its response is aborted; otherwise, it would keep a
// snapshot open.

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

export interface Application {
  fetch(request: Request, env: (HttpBindings | Http2Bindings) & Shutdown): Response | Promise<Response>;
}

/** `shutdown` aborts when the server shuts down and ends its calls; its reason is the error for the responses. */
interface Shutdown {
  readonly shutdown: AbortSignal;
}

export type RequestListener = (incoming: Incoming, outgoing: Outgoing) => Promise<void>;

/**
 * Creates a listener for Node's servers. The listener passes each request to the application before it reads the body,
 * and writes the response.
 * @param stallMs if the client reads nothing for this time, the response is aborted
 * @param places counts a request until this process has produced the whole response, even if the client has not read it
 * yet
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
      // The host in the URL of a request without a Host header. Load balancers probe with HTTP/1.0, which does not
      // require this header.
      hostname: 'localhost',
      overrideGlobalObjects: false,
      autoCleanupIncoming: false,
      errorHandler: (error) => errorResponse(error instanceof RequestError ? httpMalformed() : error, newRequestId()),
    },
  );
}

export interface WriteOptions {
  readonly stallMs: number;
  /** Called when this process has produced the whole response, even if the client has not read it yet. */
  readonly onComplete?: () => void;
}

/** The maximum number of bytes per write. The client must accept each write within `stallMs`. */
const PART_BYTES = 64 * 1024;

/**
 * Writes a response, no faster than the client reads it. The returned promise never rejects. If the body fails before
 * its first bytes, writes an error response. If the body fails later, logs the error and aborts the response, so that
 * the client cannot mistake a part for a complete body. If the client disconnects, cancels the body. If the response
 * has a `trailer` header, the caller has already set the trailers on `outgoing`. Such a response has no content length,
 * because HTTP/1 sends trailers only with chunked encoding.
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
  // The parser may still be processing the last bytes of the request. Wait for one turn of the event loop, so that the
  // parser can complete the request.
  if (!req.complete) await setImmediate();
  setHead(response, outgoing, body.length);
  // Pass a small body to `end`, because Node then writes the headers and the body together.
  if (body.small === undefined) {
    await writeChunks(outgoing, body, stallMs);
    outgoing.end();
  } else outgoing.end(body.small);
  stopUpload(req);
  // From now on, abort the response if the client reads nothing. Over HTTP/1, this is not needed if all bytes are
  // written.
  if (!isHttp1(outgoing) || outgoing.writableLength > 0) void untilTaken(outgoing, 'close', stallMs);
}

const NO_CONTENT = 204;

// Sets the headers, but does not write them yet. If the response is empty, Node writes them at `end`, and an HTTP/2
// response then needs no data frame.
function setHead(response: Response, outgoing: Outgoing, length: number | undefined): void {
  for (const [name, value] of response.headers) outgoing.setHeader(name, value);
  // Omit the length in a response to HEAD, because HTTP requires the length of the response to GET here, which is
  // unknown.
  const isHead = outgoing.req.method === 'HEAD';
  const mayHaveLength = !isHead && !response.headers.has('trailer') && response.status !== NO_CONTENT;
  if (length !== undefined && mayHaveLength && (length > 0 || isHttp1(outgoing)))
    outgoing.setHeader('content-length', length);
  outgoing.statusCode = response.status;
  if (isHttp1(outgoing) || outgoing.req.complete || response.headers.has('trailer') || isResponseClosed(outgoing))
    return;
  // Send an empty response in one frame. Otherwise, Node would end the response in a second frame, and some clients see
  // no response if a reset arrives before that frame.
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
 * Discards the rest of the request's body, because the response has ended. Over HTTP/2, asks the client to stop sending
 * (RFC 9113 8.1).
 */
function stopUpload(incoming: Incoming): void {
  if (incoming.complete) return;
  // Remove the listeners, because a remaining listener would pause the stream again.
  incoming.removeAllListeners('data');
  incoming.resume();
  if (incoming instanceof Http2ServerRequest && incoming.stream.state.remoteClose !== 1)
    incoming.stream.close(constants.NGHTTP2_NO_ERROR);
}

interface ResponseBody {
  /** The length of the body; undefined if it is unknown, because more chunks may follow. */
  readonly length: number | undefined;
  /** The whole body, if it is known and fits into a single write. */
  readonly small?: Uint8Array;
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Rejects as soon as the body fails, even if no code reads `chunks` at that time. */
  readonly closed?: Promise<unknown>;
}

function completeBody(content: Uint8Array | undefined): ResponseBody {
  if (content === undefined) return { length: 0, chunks: [] };
  const { byteLength: length } = content;
  return { length, chunks: [content], ...(length <= PART_BYTES ? { small: content } : {}) };
}

/**
 * Reads the first chunk of a body before any header is sent. If this fails, the client can therefore still receive an
 * error response. Sets the length if the body is known to end with this chunk, but does not wait for a second chunk to
 * find out.
 */
async function readBodyStart(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<ResponseBody> {
  const first = await reader.read();
  const second = first.done ? Promise.resolve(first) : reader.read();
  const isComplete = await Promise.race([second.then(({ done }) => done), setImmediate(false)]);
  // If the second read fails, the consumer of `chunks` receives the error when it reads on. Until then, this handler
  // prevents an unhandled rejection.
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
