import { Agent, type ClientRequest, type IncomingMessage, request as startRequest } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { systemCode } from '../../../shared/systemCode.ts';

/** The bytes kept of a body: all of a small one, and of an export at least its manifest. */
const TAIL_BYTES = 65_536;
/** A response that takes longer counts as missing. */
const TIMEOUT_MS = 120_000;

/** A request, and how its body is sent and the response's is read. */
export interface LoadRequest {
  readonly method: string;
  readonly path: string;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Pieces are sent as they come. */
  readonly body?: string | Uint8Array | AsyncIterable<string> | undefined;
  /** The rate at which the response is read; without one, as it arrives. */
  readonly bytesPerSecond?: number;
  /** Leaves when the response has been read for this time. */
  readonly leaveAfterMs?: number;
}

/** A response. */
export interface LoadAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** The body's last bytes. */
  readonly tail: string;
  /** Whether the client left before the end. */
  readonly isLeft: boolean;
}

/** A client of one server, whose connections are kept alive. */
export class LoadClient {
  readonly #url: string;
  // Only with a time of its own, an agent keeps to the time after which the server announces to close a connection.
  readonly #agent = new Agent({ keepAlive: true, timeout: TIMEOUT_MS });

  #resent = 0;

  constructor(url: string) {
    this.#url = url;
  }

  /** How many requests met the end of an idle connection, and were sent again. */
  get resent(): number {
    return this.#resent;
  }

  /**
   * Sends a request, and reads the response. A server may close a connection after a response just when the next request
   * is sent: then it is sent again on another one, as clients do (RFC 9112, section 9.3.1).
   * @throws Error of the connection, of the body's iterable, and for a response that breaks off
   */
  async send(request: LoadRequest): Promise<LoadAnswer> {
    for (;;) {
      const answer = await this.#attempt(request);
      if (answer !== undefined) return answer;
      this.#resent++;
    }
  }

  async #attempt(request: LoadRequest): Promise<LoadAnswer | undefined> {
    const { method, path, token, headers } = request;
    const outgoing = startRequest(`${this.#url}${path}`, {
      agent: this.#agent,
      method,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
    });
    const sent = sendBody(outgoing, request.body).catch((reason: unknown) => {
      outgoing.destroy(reason instanceof Error ? reason : new Error(String(reason)));
    });
    const response = await responseTo(outgoing).catch((reason: unknown) => {
      if (!isClosedMeanwhile(outgoing, request, reason)) throw reason;
      return undefined;
    });
    const answer = response && (await receive(response, request));
    await sent;
    // A rejected body stays unfinished, and the server would wait for its rest.
    if (!outgoing.writableFinished) outgoing.destroy();
    return answer;
  }

  /** Closes all connections. */
  close(): void {
    this.#agent.destroy();
  }
}

/** Whether a connection that had carried other requests ended before the response to one that can be sent again. */
function isClosedMeanwhile({ reusedSocket }: ClientRequest, { body }: LoadRequest, reason: unknown): boolean {
  const isRepeatable = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
  return isRepeatable && reusedSocket && systemCode(reason) === 'ECONNRESET';
}

async function sendBody(outgoing: ClientRequest, body: LoadRequest['body']): Promise<void> {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) return void outgoing.end(body);
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  for (const event of ['response', 'close']) outgoing.once(event, () => resolve(undefined));
  const pieces = body[Symbol.asyncIterator]();
  for (;;) {
    const next = await Promise.race([pieces.next(), over]);
    if (next === undefined) return;
    if (next.done) return void outgoing.end();
    outgoing.write(next.value);
  }
}

function responseTo(outgoing: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  outgoing.once('response', resolve).on('error', reject);
  return promise;
}

async function receive(response: IncomingMessage, request: LoadRequest): Promise<LoadAnswer> {
  const { bytesPerSecond = Number.POSITIVE_INFINITY, leaveAfterMs = Number.POSITIVE_INFINITY } = request;
  const begin = performance.now();
  let kept: Buffer[] = [];
  let size = 0;
  let isLeft = false;
  for await (const chunk of response) {
    kept.push(chunk);
    size += chunk.length;
    if (size > 2 * TAIL_BYTES) {
      kept = [Buffer.concat(kept).subarray(-TAIL_BYTES)];
      size = TAIL_BYTES;
    }
    isLeft = performance.now() - begin > leaveAfterMs;
    if (isLeft) break;
    if (bytesPerSecond < Number.POSITIVE_INFINITY) await setTimeout((1_000 * chunk.length) / bytesPerSecond);
  }
  const { statusCode: status = 0, headers } = response;
  return { status, headers, tail: Buffer.concat(kept).toString(), isLeft };
}
