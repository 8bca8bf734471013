import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { Violation } from '../support/violation.ts';
import { toHeaders } from './frameReader.ts';
import { RESPONSE_MS, type WireResponse } from './responseReader.ts';

/** A request over HTTP/2; its body is sent in frames of the given sizes. */
export interface Http2Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Whether the client resets the stream instead of ending its body. */
  readonly isReset: boolean;
}

/** A request that a session did not process, since the server was closing the session already. */
export class NotProcessed extends Error {}

/**
 * Sends a request on a session. Returns undefined where the client or the protocol itself has reset the stream.
 * @throws NotProcessed for a request that may be sent again, on another session (RFC 9113, section 6.8)
 */
export async function exchangeOverHttp2(
  session: ClientHttp2Session,
  { headers, body, isReset }: Http2Message,
): Promise<WireResponse | undefined> {
  const stream = session.request(headers, { endStream: false });
  let isUnprocessed = false;
  const onGoaway = (code: number, last: number) => {
    isUnprocessed = code === constants.NGHTTP2_NO_ERROR && (stream.id === undefined || stream.id > last);
  };
  session.on('goaway', onGoaway);
  const parts: Buffer[] = [];
  const got: { head?: IncomingHttpHeaders; trailers?: IncomingHttpHeaders } = {};
  stream.on('response', (head) => {
    got.head = head;
  });
  stream.on('trailers', (trailers) => {
    got.trailers = trailers;
  });
  stream.on('data', (part: Buffer) => parts.push(part));
  // The code of the stream says how it ended.
  stream.on('error', () => undefined);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  stream.once('close', resolve).once('end', () => void whenClosed(stream, resolve));
  const timer = setTimeout(() => reject(new Violation(`no end of a stream within ${RESPONSE_MS} ms`)), RESPONSE_MS);
  try {
    if (isReset) {
      stream.write(body);
      stream.close(constants.NGHTTP2_CANCEL);
    } else stream.end(body);
    await promise;
  } finally {
    clearTimeout(timer);
    session.off('goaway', onGoaway);
  }
  if (isReset) return undefined;
  if (got.head === undefined) {
    if (isUnprocessed) throw new NotProcessed();
    if (stream.rstCode === constants.NGHTTP2_PROTOCOL_ERROR) return undefined;
    throw new Violation(`a stream without a response, reset with ${stream.rstCode}`);
  }
  const status = Number(got.head[':status']);
  return { status, headers: toHeaders(got.head), body: Buffer.concat(parts), trailers: toHeaders(got.trailers ?? {}) };
}

/**
 * Calls back when a server has closed a stream whose response is complete. After a response that does not wait for the
 * whole body, Node's client emits no `close`: it still wants to write the rest.
 */
async function whenClosed(stream: ClientHttp2Stream, onClosed: () => void): Promise<void> {
  while (!stream.closed) await sleep(1, undefined, { ref: false });
  stream.destroy();
  onClosed();
}

/** Sessions with prior knowledge of HTTP/2: one at a time, renewed when the server has closed it. */
export class Http2Sessions {
  readonly #url: string;
  #session: ClientHttp2Session | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  current(): ClientHttp2Session {
    if (this.#session === undefined || this.#session.closed || this.#session.destroyed) {
      this.#session = connect(this.#url);
      this.#session.on('error', () => undefined);
    }
    return this.#session;
  }

  close(): void {
    this.#session?.destroy();
  }
}
