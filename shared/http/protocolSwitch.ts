import type { Server } from 'node:http';
import type { Http2Server } from 'node:http2';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { httpHeadersTimeout, httpMalformed, tooManyConnections } from '../errors/httpErrors.ts';
import type { Connections } from './connections.ts';
import { writeRawError } from './errorResponse.ts';
import { admitHandshakes } from './handshakes.ts';

/** The first bytes of every HTTP/2 connection without TLS (RFC 9113 3.4). No HTTP/1 method starts with them. */
const preface = Buffer.from('PRI');

/** The connections whose protocol is not yet known. */
export type UndecidedConnections = ReadonlySet<Socket>;

/** What the connections of a server pass through. */
interface SwitchOptions {
  readonly connections: Connections;
  /** A connection that sends nothing for this time gets 408. */
  readonly timeoutMs: number;
}

/**
 * Passes connections that start with HTTP/2's preface from an HTTP/1 server to an HTTP/2 server, as far as `connections`
 * admits them. With TLS, both protocols begin with the same bytes after the handshake as without.
 */
export function switchProtocols(
  server: Server | TlsServer,
  http2Server: Http2Server,
  { connections, timeoutMs }: SwitchOptions,
): UndecidedConnections {
  const undecided = new Set<Socket>();
  const event = server instanceof TlsServer ? 'secureConnection' : 'connection';
  const http1Listeners = server.listeners(event);
  server.removeAllListeners(event);
  const choose = (socket: Socket) => {
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
  };
  if (server instanceof TlsServer) admitHandshakes(server, { connections, handshakes: undecided, onEncrypted: choose });
  else server.on('connection', (socket) => admitOr503(socket, connections, choose));
  return undecided;
}

function admitOr503(socket: Socket, connections: Connections, onAdmitted: (socket: Socket) => void): void {
  if (connections.admit(socket)) onAdmitted(socket);
  else void writeRawError(socket, tooManyConnections());
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
