// Serves HTTP/1 and HTTP/2 on one port, as ZITADEL does: gRPC clients use HTTP/2 without TLS, browsers and probes use
// HTTP/1. Node has no server for both without TLS. So there are two servers, and the first bytes of a connection decide
// which server receives the connection.

import { createServer as createHttp1Server, type Server as Http1Server } from 'node:http';
import { createServer as createHttp2Server, type Http2Server, type Http2ServerRequest } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import { httpHeadersTimeout } from '../errors/httpErrors.ts';
import { fixedLimits, type Limits } from '../limits.ts';
import { writeRawError } from './responses.ts';

// For every limit that is not set here, Node's default is sufficient, because a proxy in front of the service has
// stricter limits.

export type ConnectionTimes = Pick<Limits, 'headersMs' | 'keepAliveMs' | 'timeoutMs'>;

/** The returned server does not listen, because `createPort` passes connections to it. */
export function createHttp1({ headersMs, keepAliveMs, timeoutMs }: ConnectionTimes): Http1Server {
  return createHttp1Server({
    keepAliveTimeout: keepAliveMs,
    headersTimeout: headersMs,
    // The time limit for receiving a whole request. It is longer than the timeout of a call, which therefore ends a
    // long upload first.
    requestTimeout: timeoutMs + headersMs,
    connectionsCheckingInterval: Math.min(30_000, headersMs / 2),
    // Add a byte, because Node rejects headers even if their size only equals `maxHeaderSize`.
    maxHeaderSize: fixedLimits.headerBytes + 1,
    // Let Node accept a request without a Host header. The application then rejects it with an error body of the
    // interface.
    requireHostHeader: false,
  });
}

/** The returned server does not listen, because `createPort` passes connections to it. */
export function createHttp2(): Http2Server {
  const server = createHttp2Server({
    settings: {
      maxConcurrentStreams: fixedLimits.streamsPerConnection,
      // Let Node accept headers up to four times the limit, because the server can then respond 431. Node itself
      // rejects larger headers.
      maxHeaderListSize: 4 * fixedLimits.headerBytes,
    },
    maxSessionInvalidFrames: fixedLimits.streamsPerConnection,
    // The number of streams that a client may reset in quick succession. After each reset, a client may open a new
    // stream, while the server still handles the request of the reset stream.
    streamResetBurst: fixedLimits.streamsPerConnection,
    streamResetRate: 33,
  });
  server.prependListener('request', bracketAuthority);
  return server;
}

/** Adds the brackets around an IPv6 address, which URLs require. Node and Connect, as clients, omit them. */
function bracketAuthority({ headers }: Http2ServerRequest): void {
  const [, address, port] = /^([\da-f]*:[\da-f:]*):(\d+)$/i.exec(headers[':authority'] ?? '') ?? [];
  if (address !== undefined) headers[':authority'] = `[${address}]:${port}`;
}

/** The first bytes of every HTTP/2 connection without TLS (RFC 9113 3.4). No HTTP/1 method starts with these bytes. */
const PREFACE = Buffer.from('PRI');

export interface PortLimits {
  /** The time in milliseconds within which the first bytes of a connection must arrive. */
  readonly headersMs: number;
  readonly isFullOfSessions: () => boolean;
}

/**
 * Creates a server that waits for the first bytes of each connection, which show its protocol. It then passes the
 * connection to `http1` or `http2`.
 */
export function createPort(http1: Http1Server, http2: Http2Server, limits: PortLimits): Server {
  const bodies: BodyBytes = new WeakMap();
  // Subtract `PARSED_BYTES`, because the parser may already have received the first bytes of the body together with the
  // end of the headers.
  http1.prependListener('request', ({ socket, headers }) => {
    bodies.set(socket, Math.max(0, Number(headers['content-length'] ?? 0) - PARSED_BYTES));
  });
  const port = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const close = () => socket.destroy();
    const pass = () => {
      const start: Buffer | null = socket.read(PREFACE.length);
      if (start === null) return;
      socket.off('readable', pass).off('end', close).off('timeout', end).setTimeout(0);
      socket.unshift(start);
      if (!start.equals(PREFACE)) passToHttp1(http1, socket, bodies);
      else if (limits.isFullOfSessions()) socket.destroy();
      else passToHttp2(http2, socket);
    };
    const end = () => writeRawError(socket, httpHeadersTimeout());
    socket.on('error', close).on('readable', pass).on('end', close).on('timeout', end).setTimeout(limits.headersMs);
  });
  // When an HTTP/1 server emits `listening`, Node starts the server's timers. `http1` does not listen and so never
  // emits this event itself.
  port.on('listening', () => http1.emit('listening')).on('close', () => http1.close());
  return port;
}

/**
 * The number of bytes to pass to Node's HTTP/1 parser at once. A part of this size contains only a few requests. Before
 * it passes a part, `passToHttp1` checks whether the connection is still open.
 */
const PARSED_BYTES = 1_024;

/** For each connection, a number of bytes: at least this many of the next bytes belong to the body of a request. */
type BodyBytes = WeakMap<Socket, number>;

/**
 * The first bytes of each HTTP/1 connection. By these bytes, the server recognises a connection that uses another
 * protocol.
 */
const starts = new WeakMap<Socket, Buffer>();
const START_BYTES = 12;

export function startOf(socket: Socket): Buffer {
  return starts.get(socket) ?? Buffer.alloc(0);
}

function noteStart(socket: Socket, chunk: Buffer): void {
  const start = startOf(socket);
  if (start.length < START_BYTES)
    starts.set(socket, Buffer.concat([start, chunk.subarray(0, START_BYTES - start.length)]));
}

/**
 * Passes a connection to the HTTP/1 server, and the data to the parser in small parts. Node's parser would continue
 * with all received bytes even after the connection is destroyed, and 64 KB can contain thousands of small requests.
 * This function does not divide the bytes of a body.
 */
function passToHttp1(http1: Http1Server, socket: Socket, bodies: BodyBytes): void {
  http1.emit('connection', socket);
  const [parse] = socket.listeners('data');
  if (parse === undefined) throw new TypeError('Node parses HTTP/1 as a listener of data');
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    noteStart(socket, chunk);
    for (let start = 0, size = 0; start < chunk.length; start += size) {
      // The parser is missing after a CONNECT request, because Node removes it.
      if (socket.destroyed || socket.listenerCount('data') === 0) return;
      if (socket.isPaused()) return void socket.unshift(chunk.subarray(start));
      const bodyBytes = bodies.get(socket) ?? 0;
      size = Math.max(PARSED_BYTES, bodyBytes);
      const part = chunk.subarray(start, start + size);
      bodies.set(socket, Math.max(0, bodyBytes - part.length));
      Reflect.apply(parse, socket, [part]);
    }
  });
}

function passToHttp2(http2: Http2Server, socket: Socket): void {
  // Because of `allowHalfOpen`, a connection that the client has closed would otherwise remain open until it times out.
  socket.allowHalfOpen = false;
  http2.emit('connection', socket);
}
