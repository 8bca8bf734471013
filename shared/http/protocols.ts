import type { Server } from 'node:http';
import {
  constants,
  createServer,
  type Http2Server,
  type Http2ServerRequest,
  type ServerHttp2Session,
} from 'node:http2';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { httpHeadersTimeout, httpMalformed } from '../errors/httpErrors.ts';
import { fixedLimits } from '../limits.ts';
import { type RequestsInFlight, takeListeners } from './concurrency.ts';
import { writeRawError } from './responses.ts';

/** The first bytes of every HTTP/2 connection without TLS (RFC 9113 3.4). No HTTP/1 method starts with them. */
const preface = Buffer.from('PRI');

/**
 * Passes connections that start with HTTP/2's preface from an HTTP/1 server to an HTTP/2 server. With TLS, both protocols
 * begin with the same bytes after the handshake as without.
 * @param timeoutMs a connection that sends nothing for this time gets 408
 * @param isFull whether the client of a connection has too many requests for a session of HTTP/2
 */
export function switchProtocols(
  server: Server | TlsServer,
  http2Server: Http2Server,
  { timeoutMs, isFull }: { readonly timeoutMs: number; readonly isFull: (socket: Socket) => boolean },
): void {
  const event = server instanceof TlsServer ? 'secureConnection' : 'connection';
  const passToHttp1 = takeListeners(server, event);
  server.on(event, (socket: Socket) =>
    readFirstBytes(socket, timeoutMs, (start) => {
      const isHttp2 = start.subarray(0, preface.length).equals(preface);
      if (isHttp2 && (isFull(socket) || isFlood(start))) return refuseSession(socket);
      socket.unshift(start);
      if (!isHttp2) {
        passToHttp1(socket);
        return parseInParts(socket);
      }
      // Otherwise a connection that the client has closed stays open until it is idle for too long.
      socket.allowHalfOpen = false;
      http2Server.emit('connection', socket);
    }),
  );
}

/** The bytes of an HTTP/1 connection that are parsed before anybody looks whether it is still open: some requests. */
const PARSED_BYTES = 1_024;

/**
 * Has a connection parsed in parts. Node's parser goes on with what was read although the connection is destroyed: 64 KB are
 * thousands of small requests.
 */
function parseInParts(socket: Socket): void {
  const [parse] = socket.listeners('data');
  if (parse === undefined) throw new TypeError('Node parses HTTP/1 as a listener of data');
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    for (let start = 0; start < chunk.length; start += PARSED_BYTES) {
      // A method CONNECT ends the parser.
      if (socket.destroyed || socket.listenerCount('data') === 0) return;
      if (socket.isPaused()) return void socket.unshift(chunk.subarray(start));
      Reflect.apply(parse, socket, [chunk.subarray(start, start + PARSED_BYTES)]);
    }
  });
}

/** The length of the whole preface, that of the head of a frame, and the type of a frame that opens a stream (RFC 9113 3.4, 4.1, 6.2). */
const [PREFACE_BYTES, HEAD_BYTES, HEADERS] = [24, 9, 1];

/**
 * Whether the first bytes of a connection have more requests than it may carry. Node makes a stream of each before the server
 * sees the first one.
 */
function isFlood(start: Buffer): boolean {
  let requests = 0;
  for (let head = PREFACE_BYTES; head + HEAD_BYTES <= start.length; head += HEAD_BYTES + start.readUIntBE(head, 3)) {
    if (start.readUInt8(head + 3) === HEADERS) requests++;
  }
  return requests > fixedLimits.streamsPerConnection;
}

/** SETTINGS, and GOAWAY with ENHANCE_YOUR_CALM, which says that no stream was processed (RFC 9113 6.8). */
const refusal = Buffer.from('000000040000000000' + '000008070000000000' + '000000000000000b', 'hex');

function refuseSession(socket: Socket): void {
  socket.on('error', () => undefined).resume();
  socket.end(refusal, () => socket.destroy());
}

/** Reads enough bytes to tell the protocols apart. Does not call back if the connection ends earlier. */
function readFirstBytes(socket: Socket, timeoutMs: number, onRead: (start: Buffer) => void): void {
  let start = Buffer.alloc(0);
  const leave = () => {
    for (const [event, listener] of Object.entries(listeners)) socket.off(event, listener);
    socket.setTimeout(0);
  };
  const listeners = {
    readable: () => {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      start = Buffer.concat([start, chunk]);
      if (start.length < preface.length && preface.subarray(0, start.length).equals(start)) return;
      leave();
      onRead(start);
    },
    end: () => {
      leave();
      if (start.length === 0) socket.end();
      else writeRawError(socket, httpMalformed());
    },
    timeout: () => {
      leave();
      writeRawError(socket, httpHeadersTimeout());
    },
    error: () => socket.destroy(),
    close: leave,
  };
  for (const [event, listener] of Object.entries(listeners)) socket.on(event, listener);
  socket.setTimeout(timeoutMs);
}

/** The time for a session to end after the client was told so. */
const GOODBYE_MS = 1_000;

/** A server for the connections that start with HTTP/2, and its open sessions. */
export interface Http2 {
  readonly server: Http2Server;
  readonly sessions: ReadonlySet<ServerHttp2Session>;
}

/**
 * Creates the HTTP/2 server, without TLS of its own.
 * @param idleMs closes a session after this time without a request, whatever else the client sends; Node itself does so for HTTP/1
 */
export function createHttp2(idleMs: number): Http2 {
  // Moderately oversized headers get 431; the protocol itself rejects much larger ones.
  const server = createServer({
    settings: {
      maxConcurrentStreams: fixedLimits.streamsPerConnection,
      maxHeaderListSize: 4 * fixedLimits.headerBytes,
    },
  });
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    closeIfIdle(session, idleMs);
  });
  server.prependListener('request', bracketAuthority);
  return { server, sessions };
}

/**
 * Refuses the streams of clients that have too many requests, before anything is made for them: each refusal costs as much as
 * a small request. So a client's own connection then takes no more streams, and closes with the last of those that it has.
 * @param isDirect whether all streams of a connection are those of one client
 */
export function refuseStreams(server: Http2Server, requests: RequestsInFlight, isDirect: boolean): void {
  const passOn = takeListeners(server, 'stream');
  server.on('stream', (stream, headers, ...rest) => {
    const { session } = stream;
    // A stream that is refused, or that has ended with its session, reports that as an error.
    stream.on('error', () => undefined);
    if (session === undefined) return;
    if (requests.isFlooded(session)) return session.destroy();
    if (!requests.isFull(session.socket, headers)) return passOn(stream, headers, ...rest);
    stream.close(constants.NGHTTP2_REFUSED_STREAM);
    if (!isDirect) void requests.countRefused(session);
    else if (requests.isUsing(session)) session.close();
    else session.destroy();
  });
}

function closeIfIdle(session: ServerHttp2Session, idleMs: number): void {
  let streams = 0;
  let timer: NodeJS.Timeout;
  const rest = () => {
    timer = setTimeout(() => {
      session.close();
      // A session that waits for the rest of a frame does not end by itself.
      timer = setTimeout(() => session.destroy(), GOODBYE_MS).unref();
    }, idleMs).unref();
  };
  rest();
  session.once('close', () => clearTimeout(timer));
  session.on('stream', (stream) => {
    clearTimeout(timer);
    streams++;
    stream.once('close', () => {
      streams--;
      if (streams === 0 && !session.destroyed) rest();
    });
  });
}

/** Adds the brackets of an IPv6 address, which URLs require. Node's client omits them, and so does Connect's. */
function bracketAuthority({ headers }: Http2ServerRequest): void {
  const [, address, port] = /^([\da-f]*:[\da-f:]*):(\d+)$/i.exec(headers[':authority'] ?? '') ?? [];
  if (address !== undefined) headers[':authority'] = `[${address}]:${port}`;
}
