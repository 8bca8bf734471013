import type { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { getRequestListener, type Http2Bindings, type HttpBindings, RequestError } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { httpMalformed } from '../errors/httpErrors.ts';
import { log } from '../log.ts';
import { errorResponse, newRequestId } from './errorResponse.ts';
import { closeAfter, cut, discardRest, type Incoming, isGone, type Outgoing, refuseRest } from './exchange.ts';

/** What answers requests: a Hono application of any kind. */
export interface Application {
  fetch(request: Request, env: HttpBindings | Http2Bindings): Response | Promise<Response>;
}

type RequestListener = (incoming: Incoming, outgoing: Outgoing) => Promise<void>;

/**
 * Hands each request of a Node server to an application, its body as an unread stream, and writes its answer.
 *
 * @param lingerMs how long what is left of a request's body is read and dropped once its answer is written
 */
export function requestListener(app: Application, lingerMs: number): RequestListener {
  return getRequestListener(
    async (request, env) => {
      const response = await app.fetch(request, env);
      await writeResponse(response, env.outgoing, lingerMs);
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
 * Writes an answer to its socket with back-pressure; never rejects.
 * A body that fails before its first bytes becomes an error answer; one that fails later is logged and the connection cut,
 * so that what arrived cannot be taken for the whole. A client that leaves cancels the body.
 * An answer with a `trailer` header has its trailers set on `outgoing` already, and no length, since HTTP/1 sends trailers in chunks only.
 *
 * @param lingerMs how long what is left of the request's body is read and dropped
 */
export async function writeResponse(response: Response, outgoing: Outgoing, lingerMs: number): Promise<void> {
  const reader = response.body?.getReader();
  const cancel = () => void reader?.cancel().catch(() => undefined);
  outgoing.once('close', cancel);
  try {
    const start = reader === undefined ? undefined : await readBodyStart(reader);
    // The parser may be in the middle of the bytes that end the request.
    if (!outgoing.req.complete) await setImmediate();
    const rest = discardRest(outgoing.req, lingerMs);
    setHead(response, outgoing, start);
    if (rest !== undefined) closeAfter(outgoing);
    if (start !== undefined) await writeChunks(outgoing, start.chunks);
    await rest;
    outgoing.end();
    refuseRest(outgoing.req);
  } catch (fault) {
    await writeFailure(fault, response, outgoing, lingerMs);
  } finally {
    outgoing.off('close', cancel);
  }
}

async function writeFailure(fault: unknown, response: Response, outgoing: Outgoing, lingerMs: number) {
  const requestId = response.headers.get('x-request-id') ?? '';
  if (!outgoing.headersSent) return writeResponse(errorResponse(fault, requestId), outgoing, lingerMs);
  if (!isGone(outgoing)) log.responseBroken(fault, requestId);
  cut(outgoing);
}

// What is not sent before `end` is sent with it: over HTTP/2 the head then says that nothing follows.
function setHead(response: Response, outgoing: Outgoing, start: BodyStart | undefined): void {
  for (const [name, value] of response.headers) outgoing.setHeader(name, value);
  const { length } = start ?? {};
  if (length !== undefined && !response.headers.has('trailer')) outgoing.setHeader('content-length', length);
  outgoing.statusCode = response.status;
}

async function writeChunks(outgoing: Writable & Outgoing, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) {
    if (isGone(outgoing)) return;
    if (!outgoing.write(chunk)) await writable(outgoing);
  }
}

function writable(outgoing: Outgoing): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = () => {
    outgoing.off('drain', done);
    outgoing.off('close', done);
    resolve();
  };
  outgoing.on('drain', done).on('close', done);
  if (isGone(outgoing)) done();
  return promise;
}

/** The beginning of an answer's body, and all of its chunks. */
interface BodyStart {
  /** The length in bytes where the body is known to be whole; undefined where more may come. */
  readonly length: number | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * Reads an answer's first chunk, before any header is sent, so that a body that fails at once can still become an error answer.
 * A body that is whole already is told apart from one that is still being made, which is not waited for.
 */
async function readBodyStart(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<BodyStart> {
  const first = await reader.read();
  const second = first.done ? Promise.resolve(first) : reader.read();
  const whole = await Promise.race([second.then(({ done }) => done), setImmediate(false)]);
  // Whoever iterates `chunks` meets the fault; until then it is not unhandled.
  second.catch(() => undefined);
  return { length: whole ? (first.value?.byteLength ?? 0) : undefined, chunks: chain(reader, first, second) };
}

type Result = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>>;

async function* chain(reader: ReadableStreamDefaultReader<Uint8Array>, first: Result, second: Promise<Result>) {
  if (first.done) return;
  yield first.value;
  for (let result = await second; !result.done; result = await reader.read()) yield result.value;
}
