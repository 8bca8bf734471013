import type { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import type { Http2Server, Http2Session } from 'node:http2';
import { Server as NetServer } from 'node:net';
import { closeAfter, type Incoming, type Outgoing } from './exchange.ts';
import type { UndecidedConnections } from './protocolSwitch.ts';

/** The requests of some servers that are not yet answered to the last byte. */
export interface RunningRequests {
  readonly responses: ReadonlySet<Outgoing>;
  /** Called whenever one has ended. */
  onEnd: (() => void) | undefined;
}

/** Follows the requests of servers from their first byte on. */
export function followRequests(servers: readonly EventEmitter[]): RunningRequests {
  const responses = new Set<Outgoing>();
  const running: RunningRequests = { responses, onEnd: undefined };
  const follow = (_incoming: Incoming, outgoing: Outgoing) => {
    responses.add(outgoing);
    outgoing.once('close', () => {
      responses.delete(outgoing);
      running.onEnd?.();
    });
  };
  for (const server of servers) {
    for (const event of ['request', 'checkExpectation']) server.prependListener(event, follow);
  }
  return running;
}

/** The open connections of an HTTP/2 server. */
export function followSessions(server: Http2Server): ReadonlySet<Http2Session> {
  const sessions = new Set<Http2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  return sessions;
}

/** All that keeps a server from ending. */
export interface OpenConnections {
  readonly running: RunningRequests;
  readonly undecided: UndecidedConnections;
  readonly http2Server: Http2Server;
  readonly sessions: ReadonlySet<Http2Session>;
}

/**
 * Ends a server: no new connection is accepted, running requests finish. HTTP/1 connections stay open until then, so that
 * a request that was on its way gets an answer instead of a reset; HTTP/2 clients are told by GOAWAY which ones to send again.
 *
 * @param limitMs after that what still runs is cut
 * @returns how many requests were cut
 */
export function drainServer(server: Server, open: OpenConnections, limitMs: number): Promise<number> {
  const { running, sessions, undecided, http2Server } = open;
  const { promise, resolve } = Promise.withResolvers<number>();
  const end = () => {
    clearTimeout(timer);
    const cut = running.responses.size;
    server.closeAllConnections();
    for (const connection of [...sessions, ...undecided]) connection.destroy();
    server.close();
    resolve(cut);
  };
  const timer = setTimeout(end, limitMs);
  running.onEnd = () => {
    if (running.responses.size === 0) end();
  };
  for (const outgoing of running.responses) closeAfter(outgoing);
  // http.Server's own close would end idle connections at once.
  NetServer.prototype.close.call(server);
  for (const session of sessions) session.close();
  http2Server.on('session', (session) => session.close());
  running.onEnd();
  return promise;
}
