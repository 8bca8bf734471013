import type { Server } from 'node:http';
import type { Http2Server } from 'node:http2';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { httpHeadersTimeout, httpMalformed } from '../errors/httpErrors.ts';
import { takeListeners } from './connections.ts';
import { writeRawError } from './errorResponse.ts';

/** The first bytes of every HTTP/2 connection without TLS (RFC 9113 3.4). No HTTP/1 method starts with them. */
const preface = Buffer.from('PRI');

/**
 * Passes connections that start with HTTP/2's preface from an HTTP/1 server to an HTTP/2 server. With TLS, both protocols
 * begin with the same bytes after the handshake as without.
 * @param timeoutMs a connection that sends nothing for this time gets 408
 */
export function switchProtocols(server: Server | TlsServer, http2Server: Http2Server, timeoutMs: number): void {
  const event = server instanceof TlsServer ? 'secureConnection' : 'connection';
  const passToHttp1 = takeListeners(server, event);
  server.on(event, (socket: Socket) =>
    readFirstBytes(socket, timeoutMs, (start) => {
      socket.unshift(start);
      if (!start.subarray(0, preface.length).equals(preface)) return passToHttp1(socket);
      // Otherwise a connection that the client has closed stays open until it is idle for too long.
      socket.allowHalfOpen = false;
      http2Server.emit('connection', socket);
    }),
  );
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
