import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { z } from 'zod';
import { tooManyConnections } from '../errors/httpErrors.ts';
import { OpenCounts } from './concurrency.ts';
import { writeRawError } from './errorResponse.ts';
import { clientKey } from './origin.ts';

/** The numbers of connections that may be open. */
export interface ConnectionLimits {
  readonly connections: number;
  readonly perClient: number;
}

/** Takes the listeners of an event away from a server. Returns a function that passes a socket on to them. */
export function takeListeners(server: Server | TlsServer, event: string): (socket: Socket) => void {
  const listeners = server.listeners(event);
  server.removeAllListeners(event);
  return (socket) => {
    for (const listener of listeners) Reflect.apply(listener, server, [socket]);
  };
}

/**
 * Limits the open connections of a server, whatever they do: during the TLS handshake too, and before their first byte.
 * A further one gets 503, or is closed where the server has TLS.
 * @returns the open connections
 */
export function limitConnections(server: Server | TlsServer, limits: ConnectionLimits): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  const ofClients = new OpenCounts<string>();
  const passOn = takeListeners(server, 'connection');
  server.on('connection', (socket: Socket) => {
    const client = clientKey(socket.remoteAddress);
    if (open.size >= limits.connections || ofClients.of(client) >= limits.perClient) {
      // There is nothing encrypted yet to respond with.
      if (server instanceof TlsServer) socket.destroy();
      else writeRawError(socket, tooManyConnections());
      return;
    }
    open.add(socket);
    ofClients.add(client);
    socket.once('close', () => {
      open.delete(socket);
      ofClients.remove(client);
    });
    passOn(socket);
  });
  return open;
}

const report = z.object({ userLimits: z.object({ open_files: z.object({ soft: z.unknown() }) }).optional() });

/**
 * Returns how many of this process's files may be connections: two thirds. Unlimited where the system has no limit, or
 * does not tell it, as Windows.
 */
export function descriptorsForConnections(): number {
  const { soft } = report.parse(process.report.getReport()).userLimits?.open_files ?? {};
  return typeof soft === 'number' ? Math.floor((soft * 2) / 3) : Number.POSITIVE_INFINITY;
}
