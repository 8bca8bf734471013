import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import { Server as NetServer, type Socket } from 'node:net';
import type { RequestsInFlight } from './concurrency.ts';
import { closeAfter } from './exchange.ts';
import type { Http2 } from './http2.ts';

/** A server, and what keeps it open. */
export interface OpenServer {
  readonly server: Server | TlsServer;
  readonly http2: Http2;
  readonly connections: ReadonlySet<Socket>;
  readonly requests: RequestsInFlight;
}

/**
 * Shuts a server down: rejects new connections, and lets requests in flight finish. HTTP/1 connections stay open meanwhile,
 * so that a request on its way gets a response instead of a reset. HTTP/2 clients learn from GOAWAY which requests to retry.
 *
 * @param limitMs aborts the remaining requests after this time
 * @returns the number of aborted requests
 */
export async function drainServer({ server, http2, connections, requests }: OpenServer, limitMs: number) {
  for (const outgoing of requests.responses) closeAfter(outgoing);
  // http.Server's own close() would close idle connections immediately.
  NetServer.prototype.close.call(server);
  for (const session of http2.sessions) session.close();
  http2.server.on('session', (session) => session.close());
  const { promise: timeout, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, limitMs);
  await Promise.race([requests.emptied(), timeout]);
  clearTimeout(timer);
  const aborted = requests.responses.size;
  for (const session of http2.sessions) session.destroy();
  for (const socket of connections) socket.destroy();
  server.close();
  return aborted;
}
