import { createServer, type Http2Server, type Http2ServerRequest } from 'node:http2';
import type { Incoming } from './exchange.ts';

/** Node's own limit for HTTP/1. */
const maxHeaderBytes = 16_384;

/** Makes an HTTP/2 server for connections without TLS; those without any traffic for `idleMs` take no new requests and end. */
export function createHttp2Server(idleMs: number): Http2Server {
  // What is a little too large can be answered 431; the protocol itself refuses what is much larger.
  const server = createServer({ settings: { maxConcurrentStreams: 100, maxHeaderListSize: 4 * maxHeaderBytes } });
  server.prependListener('request', bracketAuthority);
  server.on('session', (session) => session.setTimeout(idleMs, () => session.close()));
  return server;
}

/** Whether an HTTP/2 request's headers are larger than this server reads; HTTP/1's parser refuses such a request by itself. */
export function hasLargeHeaders({ httpVersionMajor, rawHeaders }: Incoming): boolean {
  if (httpVersionMajor === 1) return false;
  return rawHeaders.reduce((bytes, text) => bytes + text.length, 0) > maxHeaderBytes;
}

/** Node's own client, and with it Connect's, leaves out the brackets of an IPv6 address, which no URL can do without. */
function bracketAuthority({ headers }: Http2ServerRequest): void {
  const [, address, port] = /^([\da-f]*:[\da-f:]*):(\d+)$/i.exec(headers[':authority'] ?? '') ?? [];
  if (address !== undefined) headers[':authority'] = `[${address}]:${port}`;
}
