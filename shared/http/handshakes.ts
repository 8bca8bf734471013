import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Connections } from './connections.ts';

/** What becomes of the connections of a server with TLS. */
interface Handshakes {
  readonly connections: Connections;
  /** Receives those that are not yet encrypted. */
  readonly handshakes: Set<Socket>;
  readonly onEncrypted: (socket: TLSSocket) => void;
}

/**
 * Admits the connections of a server with TLS before their handshake: a client that never ends it occupies a connection,
 * until the server's `handshakeTimeout` closes it.
 */
export function admitHandshakes(server: Server, { connections, handshakes, onEncrypted }: Handshakes): void {
  const begun = new Map<string, Socket>();
  const beginHandshake = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (!connections.admit(socket)) return void socket.destroy();
    const key = ends(socket);
    begun.set(key, socket);
    handshakes.add(socket);
    socket.once('close', () => {
      handshakes.delete(socket);
      if (begun.get(key) === socket) begun.delete(key);
    });
    for (const listener of beginHandshake) Reflect.apply(listener, server, [socket]);
  });
  server.on('secureConnection', (encrypted) => {
    const socket = begun.get(ends(encrypted));
    // A connection that has ended in the meantime has no address any more.
    if (socket === undefined) return void encrypted.destroy();
    handshakes.delete(socket);
    connections.replace(socket, encrypted);
    onEncrypted(encrypted);
  });
  // There is no request yet to respond to.
  server.removeAllListeners('tlsClientError').on('tlsClientError', (_error, socket) => socket.destroy());
}

/** Returns what tells an open connection from all others. TLS wraps its socket in another one. */
function ends({ localAddress, localPort, remoteAddress, remotePort }: Socket | TLSSocket): string {
  return [localAddress, localPort, remoteAddress, remotePort].join(' ');
}
