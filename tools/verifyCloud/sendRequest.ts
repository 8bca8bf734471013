import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { Exchange } from './action.ts';
import { bearerToken } from './bearerToken.ts';
import type { Reply } from './step.ts';

const KEEP_ALIVE_MS = 30_000;

/**
 * Sends a request, and reads its response for as long as it takes. Node's `fetch` would give up after five minutes.
 * A connection that ends early is part of the reply. @throws the signal's reason
 */
export async function sendRequest(exchange: Exchange, signal: AbortSignal): Promise<Reply> {
  const started = performance.now();
  const body = exchange.body?.create();
  const outgoing = request(exchange.url, { method: exchange.method, headers: await headers(exchange, body), signal });
  outgoing.on('socket', (socket) => socket.setKeepAlive(true, KEEP_ALIVE_MS));
  // An error after the response has begun ends the response too.
  outgoing.on('error', () => {});
  const reply = { status: undefined, contentType: '', announcedBytes: undefined, text: '' };
  const seconds = () => (performance.now() - started) / 1_000;
  try {
    const responded = once(outgoing, 'response');
    outgoing.end(body);
    const [response] = await responded;
    return { ...(await readReply(response)), seconds: seconds() };
  } catch (error) {
    signal.throwIfAborted();
    return { ...reply, seconds: seconds(), broken: describeError(error) };
  }
}

async function readReply(response: IncomingMessage): Promise<Omit<Reply, 'seconds'>> {
  const length = response.headers['content-length'];
  const head = {
    status: response.statusCode,
    contentType: response.headers['content-type'] ?? '',
    announcedBytes: length === undefined ? undefined : Number(length),
  };
  const parts: Buffer[] = [];
  try {
    for await (const part of response) parts.push(part);
    return { ...head, text: Buffer.concat(parts).toString('utf8') };
  } catch (error) {
    return { ...head, text: Buffer.concat(parts).toString('utf8'), broken: describeError(error) };
  }
}

async function headers({ authorization, body }: Exchange, content = ''): Promise<Record<string, string | number>> {
  const token = authorization === undefined ? undefined : await bearerToken(authorization);
  return {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
  };
}

/** The code of a network error: its text may name addresses only. */
function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
