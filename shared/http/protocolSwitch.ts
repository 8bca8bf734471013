import type { Server } from 'node:http';
import type { Http2Server } from 'node:http2';
import type { Socket } from 'node:net';
import { httpHeadersTimeout, httpMalformed } from '../errors/httpErrors.ts';
import type { Connections } from './connections.ts';
import { writeRawError } from './errorResponse.ts';

/** The first bytes of every HTTP/2 connection without TLS (RFC 9113 3.4). No HTTP/1 method starts with them. */
const preface = Buffer.from('PRI');

/** The connections whose protocol is not yet known. */
export type UndecidedConnections = ReadonlySet<Socket>;

/**
 * Passes connections that start with HTTP/2's preface from an HTTP/1 server to an HTTP/2 server, as far as `connections`
 * admits them.
 *
 * @param timeoutMs a connection that sends nothing for this time gets 408
 */
export function switchProtocols(
  server: Server,
  http2Server: Http2Server,
  connections: Connections,
  timeoutMs: number,
): UndecidedConnections {
  const undecided = new Set<Socket>();
  const http1Listeners = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (!connections.admit(socket)) return;
    undecided.add(socket);
    readFirstBytes(socket, timeoutMs, (start) => {
      undecided.delete(socket);
      if (start === undefined) return;
      socket.unshift(start);
      if (start.subarray(0, preface.length).equals(preface)) {
        connections.leaveToSession(socket);
        // Otherwise a connection that the client has closed stays open until it is idle for too long.
        socket.allowHalfOpen = false;
        http2Server.emit('connection', socket);
      } else for (const listener of http1Listeners) Reflect.apply(listener, server, [socket]);
    });
  });
  return undecided;
}

/** Reads enough bytes to tell the protocols apart. Calls back once, with undefined if the connection ends earlier. */
function readFirstBytes(socket: Socket, timeoutMs: number, onDecision: (start: Buffer | undefined) => void): void {
  let start = Buffer.alloc(0);
  const decide = (bytes: Buffer | undefined) => {
    for (const [event, listener] of Object.entries(listeners)) socket.off(event, listener);
    socket.setTimeout(0);
    onDecision(bytes);
  };
  const listeners = {
    readable: () => {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      start = Buffer.concat([start, chunk]);
      if (start.length >= preface.length || !preface.subarray(0, start.length).equals(start)) decide(start);
    },
    end: () => {
      decide(undefined);
      if (start.length === 0) socket.end();
      else void writeRawError(socket, httpMalformed());
    },
    timeout: () => {
      decide(undefined);
      void writeRawError(socket, httpHeadersTimeout());
    },
    error: () => socket.destroy(),
    close: () => decide(undefined),
  };
  for (const [event, listener] of Object.entries(listeners)) socket.on(event, listener);
  socket.setTimeout(timeoutMs);
}
