// Serves HTTP/1 and HTTP/2 on one port, as ZITADEL does: gRPC clients use HTTP/2 without TLS, browsers and probes use
// HTTP/1. Node has no server for both without TLS, so the first bytes of a connection select one of two servers.

import { createServer as createHttp1Server, type Server as Http1Server } from 'node:http';
import { createServer as createHttp2Server, type Http2Server, type Http2ServerRequest } from 'node:http2';
import { createServer, type Server, type Socket } from 'node:net';
import { httpHeadersTimeout } from '../errors/httpErrors.ts';
import { fixedLimits, type Limits } from '../limits.ts';
import { writeRawError } from './responses.ts';

// The two servers that share one port. Limits that are not set here are Node's defaults; a proxy in front has stricter
// limits.

/** Times after which the server closes slow or idle connections. */
export type ConnectionTimes = Pick<Limits, 'headersMs' | 'keepAliveMs' | 'timeoutMs'>;

/** Creates the server for HTTP/1 connections. It does not listen on a port. */
export function createHttp1({ headersMs, keepAliveMs, timeoutMs }: ConnectionTimes): Http1Server {
  return createHttp1Server({
    keepAliveTimeout: keepAliveMs,
    headersTimeout: headersMs,
    // The call's own timeout ends a long upload earlier.
    requestTimeout: timeoutMs + headersMs,
    connectionsCheckingInterval: Math.min(30_000, headersMs / 2),
    // Add a byte, because Node rejects headers whose size equals its limit.
    maxHeaderSize: fixedLimits.headerBytes + 1,
    // The application rejects a request without a Host header with the interface's error body.
    requireHostHeader: false,
  });
}

/** Creates the server for HTTP/2 connections. It does not listen on a port. */
export function createHttp2(): Http2Server {
  const server = createHttp2Server({
    settings: {
      maxConcurrentStreams: fixedLimits.streamsPerConnection,
      // The server responds with 431 to headers that are moderately too large; the protocol itself rejects much larger
      // headers.
      maxHeaderListSize: 4 * fixedLimits.headerBytes,
    },
    maxSessionInvalidFrames: fixedLimits.streamsPerConnection,
    // A client may open a new stream after a reset, while the request of the old stream is still being handled.
    streamResetBurst: fixedLimits.streamsPerConnection,
    streamResetRate: 33,
  });
  server.prependListener('request', bracketAuthority);
  return server;
}

/** Adds the brackets of an IPv6 address, which URLs require. The clients of Node and Connect omit the brackets. */
function bracketAuthority({ headers }: Http2ServerRequest): void {
  const [, address, port] = /^([\da-f]*:[\da-f:]*):(\d+)$/i.exec(headers[':authority'] ?? '') ?? [];
  if (address !== undefined) headers[':authority'] = `[${address}]:${port}`;
}

/** The first bytes of every HTTP/2 connection without TLS (RFC 9113 3.4). No HTTP/1 method starts with them. */
const PREFACE = Buffer.from('PRI');

/** The limits on the first bytes of connections. */
export interface PortLimits {
  /** The time within which a connection's first bytes must arrive. */
  readonly headersMs: number;
  /** Whether the server must close further HTTP/2 connections. */
  readonly isFullOfSessions: () => boolean;
}

/**
 * Creates the server of a port. It passes each connection to the server of its protocol when the first bytes identify
 * the protocol.
 */
export function createPort(http1: Http1Server, http2: Http2Server, limits: PortLimits): Server {
  const bodies: BodyBytes = new WeakMap();
  // The part of the data that contains the end of the headers can also contain the first bytes of the body.
  http1.prependListener('request', ({ socket, headers }) => {
    bodies.set(socket, Math.max(0, Number(headers['content-length'] ?? 0) - PARSED_BYTES));
  });
  const port = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const close = () => socket.destroy();
    const pass = () => {
      // `read` returns nothing until enough bytes have arrived.
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
  // Node starts the timers of an HTTP/1 server at this event, which `http1` does not emit by itself because it does not
  // listen.
  port.on('listening', () => http1.emit('listening')).on('close', () => http1.close());
  return port;
}

/**
 * The number of bytes that the parser receives before the next check whether an HTTP/1 connection is open. They contain
 * only a few requests.
 */
const PARSED_BYTES = 1_024;

/** For each connection, how many of its next bytes certainly belong to the body of a request. */
type BodyBytes = WeakMap<Socket, number>;

/** The first bytes of HTTP/1 connections: enough to recognise another protocol. */
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
 * Passes a connection to the HTTP/1 server, and passes its data in small parts. Node's parser would parse all received
 * bytes even after the connection is destroyed, and 64 KB can contain thousands of small requests. The bytes of a body
 * are not split.
 */
function passToHttp1(http1: Http1Server, socket: Socket, bodies: BodyBytes): void {
  http1.emit('connection', socket);
  const [parse] = socket.listeners('data');
  if (parse === undefined) throw new TypeError('Node parses HTTP/1 as a listener of data');
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    noteStart(socket, chunk);
    for (let start = 0, size = 0; start < chunk.length; start += size) {
      // After a CONNECT request, Node has removed the parser.
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
  // Without this setting, a connection that the client has closed would remain open until it times out.
  socket.allowHalfOpen = false;
  http2.emit('connection', socket);
}
