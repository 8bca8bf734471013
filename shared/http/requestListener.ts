import type { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { getRequestListener, type Http2Bindings, type HttpBindings, RequestError } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { httpMalformed } from '../errors/httpErrors.ts';
import { log } from '../log.ts';
import { completeContent } from './completeResponse.ts';
import { errorResponse, newRequestId } from './errorResponse.ts';
import {
  abortOnStall,
  abortResponse,
  closeAfter,
  discardBody,
  type Incoming,
  isClosed,
  isHttp1,
  type Outgoing,
  stopUpload,
} from './exchange.ts';
import { traceFrom } from './origin.ts';
import { isBodyExpected } from './readBody.ts';

/** A fetch handler, such as a Hono application. */
export interface Application {
  fetch(request: Request, env: HttpBindings | Http2Bindings): Response | Promise<Response>;
}

/** How long the rest of a body is read after the response, and how long the client may read none of the response. */
export interface WaitTimes {
  /** For a body that the application expects. */
  readonly lingerMs: number;
  readonly strangerLingerMs: number;
  readonly stallMs: number;
}

type ResponseTimes = Omit<WaitTimes, 'strangerLingerMs'>;

/** What is written at once: a connection must take each part within the time for a stalled response. */
const PART_BYTES = 64 * 1024;

type RequestListener = (incoming: Incoming, outgoing: Outgoing) => Promise<void>;

/**
 * Creates a Node request listener that passes requests to an application, with unread bodies, and writes the responses.
 *
 * @param times limit the time for reading and discarding the rest of a request's body after its response, and for a
 *   client that does not read the response
 */
export function requestListener(app: Application, times: WaitTimes): RequestListener {
  return getRequestListener(
    async (request, env) => {
      const response = await app.fetch(request, env);
      const lingerMs = isBodyExpected(request) ? times.lingerMs : times.strangerLingerMs;
      await writeResponse(response, env.outgoing, { ...times, lingerMs });
      return RESPONSE_ALREADY_SENT;
    },
    {
      overrideGlobalObjects: false,
      autoCleanupIncoming: false,
      errorHandler: (error) => errorResponse(error instanceof RequestError ? httpMalformed() : error, newRequestId()),
    },
  );
}

/**
 * Writes a response to its socket with backpressure; never rejects.
 * A body that fails before its first bytes becomes an error response. A later failure is logged, and aborts the response,
 * so that the client cannot mistake the received part for a complete body. A client that disconnects cancels the body.
 * The trailers of a response with a `trailer` header are already set on `outgoing`. Such a response has no content length,
 * since HTTP/1 sends trailers only with chunked encoding.
 *
 * @param times limit the time for reading and discarding the rest of the request's body, and for a client that does not
 *   read
 */
export async function writeResponse(response: Response, outgoing: Outgoing, times: ResponseTimes): Promise<void> {
  const { lingerMs, stallMs } = times;
  const content = completeContent(response);
  const reader = content === undefined ? response.body?.getReader() : undefined;
  const cancel = () => void reader?.cancel().catch(() => undefined);
  if (reader !== undefined) outgoing.once('close', cancel);
  try {
    const start = content === undefined ? reader && (await readBodyStart(reader)) : wholeBody(content);
    // The parser may be processing the request's last bytes.
    if (!outgoing.req.complete) await setImmediate();
    const rest = discardBody(outgoing.req, lingerMs);
    setHead(response, outgoing, start);
    if (rest !== undefined) closeAfter(outgoing);
    if (rest !== undefined && start === undefined) sendEmpty(outgoing);
    // Node writes the head and a small body at once.
    const isSmall = rest === undefined && content !== undefined && content.byteLength <= PART_BYTES;
    if (start !== undefined && !isSmall) await writeChunks(outgoing, start.chunks, stallMs, reader?.closed);
    await rest;
    if (isSmall) outgoing.end(content);
    else outgoing.end();
    stopUpload(outgoing.req);
    abortOnStall(outgoing, stallMs, 'close');
  } catch (error) {
    await writeFailure(error, response, outgoing, times);
  } finally {
    outgoing.off('close', cancel);
  }
}

async function writeFailure(error: unknown, response: Response, outgoing: Outgoing, times: ResponseTimes) {
  const requestId = response.headers.get('x-request-id') ?? '';
  const { headers } = outgoing.req;
  const trace = traceFrom((name) => headers[name]?.toString());
  if (!outgoing.headersSent) return writeResponse(errorResponse(error, requestId, undefined, trace), outgoing, times);
  if (!isClosed(outgoing)) log.responseBroken(error, requestId, trace);
  abortResponse(outgoing);
}

// Headers are set, not written: Node sends them with `end`, so an empty HTTP/2 response needs no data frame.
function setHead(response: Response, outgoing: Outgoing, start: BodyStart | undefined): void {
  for (const [name, value] of response.headers) outgoing.setHeader(name, value);
  const { length } = start ?? {};
  if (length !== undefined && !response.headers.has('trailer')) outgoing.setHeader('content-length', length);
  outgoing.statusCode = response.status;
}

/** Sends a response without content before its end, for which the rest of the request is awaited. */
function sendEmpty(outgoing: Outgoing): void {
  const NO_CONTENT = 204;
  if (!isHttp1(outgoing)) return;
  if (outgoing.statusCode !== NO_CONTENT) outgoing.setHeader('content-length', 0);
  outgoing.flushHeaders();
}

/** @param closed rejects when the body fails, also while the client does not read */
async function writeChunks(
  outgoing: Writable & Outgoing,
  chunks: BodyStart['chunks'],
  stallMs: number,
  closed: Promise<unknown> | undefined,
): Promise<void> {
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.byteLength; start += PART_BYTES) {
      if (isClosed(outgoing)) return;
      if (outgoing.write(chunk.subarray(start, start + PART_BYTES))) continue;
      const writable = untilWritable(outgoing, stallMs);
      await Promise.race([writable, closed?.then(() => writable) ?? writable]);
    }
  }
}

function untilWritable(outgoing: Outgoing, stallMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = () => {
    outgoing.off('drain', done);
    outgoing.off('close', done);
    resolve();
  };
  outgoing.on('drain', done).on('close', done);
  abortOnStall(outgoing, stallMs, 'drain');
  if (isClosed(outgoing)) done();
  return promise;
}

/** A response body whose first chunk is read. */
interface BodyStart {
  /** The length in bytes if the body is complete; undefined if more chunks may follow. */
  readonly length: number | undefined;
  /** All chunks, including the first. */
  readonly chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

function wholeBody(content: Uint8Array): BodyStart {
  return { length: content.byteLength, chunks: [content] };
}

/**
 * Reads a response's first chunk before any header is sent, so that an immediate failure can become an error response.
 * Determines the length of a body that is already complete, without waiting for one that is not.
 */
async function readBodyStart(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<BodyStart> {
  const first = await reader.read();
  const second = first.done ? Promise.resolve(first) : reader.read();
  const complete = await Promise.race([second.then(({ done }) => done), setImmediate(false)]);
  // Iterating `chunks` throws the error; until then it must not count as unhandled.
  second.catch(() => undefined);
  return { length: complete ? (first.value?.byteLength ?? 0) : undefined, chunks: chain(reader, first, second) };
}

type Result = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>>;

async function* chain(reader: ReadableStreamDefaultReader<Uint8Array>, first: Result, second: Promise<Result>) {
  if (first.done) return;
  yield first.value;
  for (let result = await second; !result.done; result = await reader.read()) yield result.value;
}
