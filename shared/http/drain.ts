import type { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import type { Http2Server, Http2Session } from 'node:http2';
import type { Server as TlsServer } from 'node:https';
import { Server as NetServer } from 'node:net';
import { closeAfter, type Incoming, type Outgoing } from './exchange.ts';
import type { UndecidedConnections } from './protocolSwitch.ts';

/** The requests whose responses are not yet complete. */
export interface InFlightRequests {
  readonly responses: ReadonlySet<Outgoing>;
  /** Called when a response closes. */
  onEnd: (() => void) | undefined;
}

/** Tracks the servers' requests in flight. */
export function trackRequests(servers: readonly EventEmitter[]): InFlightRequests {
  const responses = new Set<Outgoing>();
  const inFlight: InFlightRequests = { responses, onEnd: undefined };
  const track = (_incoming: Incoming, outgoing: Outgoing) => {
    responses.add(outgoing);
    outgoing.once('close', () => {
      responses.delete(outgoing);
      inFlight.onEnd?.();
    });
  };
  for (const server of servers) {
    for (const event of ['request', 'checkExpectation']) server.prependListener(event, track);
  }
  return inFlight;
}

/** Tracks the open connections of an HTTP/2 server. */
export function trackSessions(server: Http2Server): ReadonlySet<Http2Session> {
  const sessions = new Set<Http2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  return sessions;
}

/** The requests and connections that keep a server open. */
export interface OpenConnections {
  readonly inFlight: InFlightRequests;
  readonly undecided: UndecidedConnections;
  readonly http2Server: Http2Server;
  readonly sessions: ReadonlySet<Http2Session>;
}

/**
 * Shuts a server down: rejects new connections, and lets requests in flight finish. HTTP/1 connections stay open meanwhile,
 * so that a request on its way gets a response instead of a reset. HTTP/2 clients learn from GOAWAY which requests to retry.
 *
 * @param limitMs aborts the remaining requests after this time
 * @returns the number of aborted requests
 */
export function drainServer(server: Server | TlsServer, open: OpenConnections, limitMs: number): Promise<number> {
  const { inFlight, sessions, undecided, http2Server } = open;
  const { promise, resolve } = Promise.withResolvers<number>();
  const end = () => {
    clearTimeout(timer);
    const aborted = inFlight.responses.size;
    server.closeAllConnections();
    for (const connection of [...sessions, ...undecided]) connection.destroy();
    server.close();
    resolve(aborted);
  };
  const timer = setTimeout(end, limitMs);
  inFlight.onEnd = () => {
    if (inFlight.responses.size === 0) end();
  };
  for (const outgoing of inFlight.responses) closeAfter(outgoing);
  // http.Server's own close() would close idle connections immediately.
  NetServer.prototype.close.call(server);
  for (const session of sessions) session.close();
  http2Server.on('session', (session) => session.close());
  inFlight.onEnd();
  return promise;
}
