import type { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { log } from '../log.ts';
import { type BodyStart, readBodyStart } from './bodyStart.ts';
import { errorResponse } from './errorResponse.ts';
import { closeAfter, cut, isGone, type Outgoing } from './exchange.ts';
import { discardRest, refuseRest } from './requestRest.ts';

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
    await answerFault(fault, response, outgoing, lingerMs);
  } finally {
    outgoing.off('close', cancel);
  }
}

async function answerFault(fault: unknown, response: Response, outgoing: Outgoing, lingerMs: number) {
  const requestId = response.headers.get('x-request-id') ?? '';
  if (!outgoing.headersSent) return writeResponse(errorResponse(fault, requestId), outgoing, lingerMs);
  if (!isGone(outgoing)) log.answerBroken(fault, requestId);
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
