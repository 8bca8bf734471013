import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { log } from '../log.ts';
import { type BodyStart, readBodyStart } from './bodyStart.ts';
import { errorResponse } from './errorResponse.ts';
import { discardRest } from './requestRest.ts';

/**
 * Writes an answer to its socket with back-pressure; never rejects.
 * A body that fails before its first bytes becomes an error answer; one that fails later is logged and the connection cut,
 * so that what arrived cannot be taken for the whole. A client that leaves cancels the body.
 *
 * @param lingerMs how long what is left of the request's body is read and dropped
 */
export async function writeResponse(response: Response, outgoing: ServerResponse, lingerMs: number): Promise<void> {
  const reader = response.body?.getReader();
  const cancel = () => void reader?.cancel().catch(() => undefined);
  outgoing.once('close', cancel);
  try {
    const start = reader === undefined ? undefined : await readBodyStart(reader);
    // The parser may be in the middle of the bytes that end the request.
    if (!outgoing.req.complete) await setImmediate();
    const rest = discardRest(outgoing.req, lingerMs);
    writeHead(response, outgoing, start, rest !== undefined);
    if (start !== undefined) await writeChunks(outgoing, start.chunks);
    await rest;
    outgoing.end();
  } catch (fault) {
    await answerFault(fault, response, outgoing, lingerMs);
  } finally {
    outgoing.off('close', cancel);
  }
}

async function answerFault(fault: unknown, response: Response, outgoing: ServerResponse, lingerMs: number) {
  const requestId = response.headers.get('x-request-id') ?? '';
  if (!outgoing.headersSent) return writeResponse(errorResponse(fault, requestId), outgoing, lingerMs);
  if (!outgoing.destroyed) log.answerBroken(fault, requestId);
  outgoing.destroy();
}

function writeHead(response: Response, outgoing: ServerResponse, start: BodyStart | undefined, close: boolean): void {
  for (const [name, value] of response.headers) outgoing.setHeader(name, value);
  if (start?.length !== undefined) outgoing.setHeader('content-length', start.length);
  if (close) outgoing.setHeader('connection', 'close');
  outgoing.writeHead(response.status);
}

async function writeChunks(outgoing: ServerResponse, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) {
    if (outgoing.destroyed) return;
    if (!outgoing.write(chunk)) await writable(outgoing);
  }
}

function writable(outgoing: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = () => {
    outgoing.off('drain', done);
    outgoing.off('close', done);
    resolve();
  };
  outgoing.on('drain', done).on('close', done);
  if (outgoing.destroyed) done();
  return promise;
}
