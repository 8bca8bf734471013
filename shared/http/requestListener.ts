import type { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { getRequestListener, type Http2Bindings, type HttpBindings, RequestError } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { httpMalformed } from '../errors/httpErrors.ts';
import { log } from '../log.ts';
import type { ConcurrencyLimit } from './concurrency.ts';
import { errorResponse, newRequestId } from './errorResponse.ts';
import {
  abortResponse,
  closeAfter,
  closeDespiteBody,
  discardBody,
  type Incoming,
  isBodyComing,
  isBodyExpected,
  isClosed,
  isHttp1,
  type Outgoing,
  stopUpload,
  untilTaken,
} from './exchange.ts';
import { traceFrom } from './origin.ts';
import { completeBody, completeContent, type ResponseBody, readBodyStart } from './responseBody.ts';

/** A fetch handler, such as a Hono application. */
export interface Application {
  fetch(request: Request, env: HttpBindings | Http2Bindings): Response | Promise<Response>;
}

/** How long the server waits for clients. */
export interface WaitTimes {
  /** For the rest of a body that the application expects, after the response. */
  readonly lingerMs: number;
  /** For a client that takes nothing of a response. */
  readonly stallMs: number;
}

type RequestListener = (incoming: Incoming, outgoing: Outgoing) => Promise<void>;

/**
 * Creates a Node request listener that passes requests to an application, with unread bodies, and writes the responses.
 * @param places has a place for a request until its whole response only waits for its client
 */
export function requestListener(app: Application, times: WaitTimes, places: ConcurrencyLimit): RequestListener {
  return getRequestListener(
    async (request, env) => {
      using place = places.enter();
      const response = await app.fetch(request, env);
      const lingerMs = isBodyExpected(request) ? times.lingerMs : 0;
      const onComplete = () => place[Symbol.dispose]();
      await writeResponse(response, env.outgoing, { lingerMs, stallMs: times.stallMs, onComplete });
      return RESPONSE_ALREADY_SENT;
    },
    {
      overrideGlobalObjects: false,
      autoCleanupIncoming: false,
      errorHandler: (error) => errorResponse(error instanceof RequestError ? httpMalformed() : error, newRequestId()),
    },
  );
}

/** How a response is written. */
export interface WriteOptions {
  /**
   * The time for which the rest of the request's body is read over HTTP/1, after the response. Closing a socket with unread
   * bytes resets it, and the reset can overtake the response. By default, the connection is closed.
   */
  readonly lingerMs?: number;
  /** Aborts the response when its client takes nothing for this time. */
  readonly stallMs: number;
  /** Called as soon as the whole response only waits for its client. */
  readonly onComplete?: () => void;
}

/** What is written at once: a connection must take each part within the time for a stalled response. */
const PART_BYTES = 64 * 1024;

/**
 * Writes a response to its socket with backpressure; never rejects.
 * A body that fails before its first bytes becomes an error response. A later failure is logged, and aborts the response,
 * so that the client cannot mistake the received part for a complete body. A client that disconnects cancels the body.
 * The trailers of a response with a `trailer` header are already set on `outgoing`. Such a response has no content length,
 * since HTTP/1 sends trailers only with chunked encoding.
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
  if (!isClosed(outgoing)) log.responseBroken(error, requestId, trace);
  abortResponse(outgoing);
}

async function writeBody(
  response: Response,
  body: ResponseBody,
  outgoing: Outgoing,
  { lingerMs = 0, stallMs }: WriteOptions,
) {
  const { req } = outgoing;
  // The parser may be processing the request's last bytes.
  if (!req.complete) await setImmediate();
  const isComing = isBodyComing(req);
  const lingers = isComing && lingerMs > 0 && isHttp1(outgoing);
  setHead(response, outgoing, body.length);
  if (lingers) closeAfter(outgoing);
  else if (isComing) closeDespiteBody(outgoing);
  if (body.small !== undefined && !lingers) {
    // Node writes the head and the content at once.
    outgoing.end(body.small);
  } else {
    await writeChunks(outgoing, body, stallMs);
    if (lingers) {
      outgoing.flushHeaders();
      await discardBody(req, lingerMs);
    }
    outgoing.end();
  }
  stopUpload(req);
  void untilTaken(outgoing, 'close', stallMs);
}

const NO_CONTENT = 204;

// Headers are set, not written: Node sends them with `end`, so an empty HTTP/2 response needs no data frame.
function setHead(response: Response, outgoing: Outgoing, length: number | undefined): void {
  for (const [name, value] of response.headers) outgoing.setHeader(name, value);
  const mayHaveLength = !response.headers.has('trailer') && response.status !== NO_CONTENT;
  if (length !== undefined && mayHaveLength && (length > 0 || isHttp1(outgoing)))
    outgoing.setHeader('content-length', length);
  outgoing.statusCode = response.status;
}

async function writeChunks(
  outgoing: Writable & Outgoing,
  { chunks, closed }: ResponseBody,
  stallMs: number,
): Promise<void> {
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.byteLength; start += PART_BYTES) {
      if (isClosed(outgoing)) return;
      if (outgoing.write(chunk.subarray(start, start + PART_BYTES))) continue;
      const taken = untilTaken(outgoing, 'drain', stallMs);
      await Promise.race([taken, closed?.then(() => taken) ?? taken]);
    }
  }
}
