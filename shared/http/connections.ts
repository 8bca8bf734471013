import type { EventEmitter } from 'node:events';
import { type Http2Server, Http2ServerRequest, type Http2Session } from 'node:http2';
import { Socket } from 'node:net';
import { z } from 'zod';
import type { Incoming, Outgoing } from './exchange.ts';
import type { StalledResponses } from './stalledResponses.ts';

type Connection = Socket | Http2Session;

/** The time for a session of HTTP/2 to end after the client was told so. */
const GOODBYE_MS = 1_000;

/**
 * The open connections of a server, at most `limit`. Above it, a new connection takes the place of the one that has been
 * without a request for the longest time, or whose response has stalled for the longest time, so that neither keeps
 * anybody out. Without such a one, it gets 503.
 */
export class Connections {
  readonly #limit: number;
  readonly #open = new Set<Socket>();
  /** The connections without a request, those that are idle for the longest time first. */
  readonly #idle = new Set<Connection>();
  readonly #requests = new Map<Connection, number>();
  readonly #sessionIdleMs: number;
  readonly #timers = new Map<Connection, NodeJS.Timeout>();

  readonly #stalled: StalledResponses;

  /** @param sessionIdleMs closes a session of HTTP/2 after this time without a request; Node itself does so for HTTP/1 */
  constructor(limit: number, sessionIdleMs: number, stalled: StalledResponses) {
    this.#limit = limit;
    this.#stalled = stalled;
    this.#sessionIdleMs = sessionIdleMs;
  }

  /** Follows the requests of the servers, and the sessions of HTTP/2. */
  track(server: EventEmitter, http2Server: Http2Server): void {
    http2Server.on('session', (session) => this.#addSession(session));
    const trackRequest = (incoming: Incoming, outgoing: Outgoing) => this.#trackRequest(incoming, outgoing);
    const servers: readonly EventEmitter[] = [server, http2Server];
    for (const each of servers) {
      for (const event of ['request', 'checkExpectation']) each.prependListener(event, trackRequest);
    }
  }

  /** Takes a new connection. Returns false if there is no place for it. */
  admit(socket: Socket): boolean {
    if (this.#open.size >= this.#limit && !this.#closeOldest()) return false;
    this.#add(socket);
    return true;
  }

  /** Gives a connection's place to the socket that encrypts it. */
  replace(socket: Socket, encrypted: Socket): void {
    this.#remove(socket);
    this.#add(encrypted);
  }

  #add(socket: Socket): void {
    this.#open.add(socket);
    this.#idle.add(socket);
    socket.once('close', () => this.#remove(socket));
  }

  #remove(socket: Socket): void {
    this.#open.delete(socket);
    this.#idle.delete(socket);
  }

  /** Returns the number of a connection's requests in flight. */
  requestsOn(connection: Connection): number {
    return this.#requests.get(connection) ?? 0;
  }

  /** Leaves a connection to its session of HTTP/2. */
  leaveToSession(socket: Socket): void {
    this.#idle.delete(socket);
  }

  #closeOldest(): boolean {
    const [oldest] = this.#idle;
    if (oldest === undefined) return this.#stalled.closeOldest();
    this.#idle.delete(oldest);
    oldest.destroy();
    return true;
  }

  #addSession(session: Http2Session): void {
    this.#setIdle(session);
    session.once('close', () => this.#setBusy(session));
  }

  #setIdle(connection: Connection): void {
    this.#idle.add(connection);
    if (connection instanceof Socket) return;
    const close = () => {
      connection.close();
      // A session that waits for the rest of a frame does not end by itself.
      this.#timers.set(connection, setTimeout(() => connection.destroy(), GOODBYE_MS).unref());
    };
    this.#timers.set(connection, setTimeout(close, this.#sessionIdleMs).unref());
  }

  #setBusy(connection: Connection): void {
    this.#idle.delete(connection);
    clearTimeout(this.#timers.get(connection));
    this.#timers.delete(connection);
  }

  #trackRequest(incoming: Incoming, outgoing: Outgoing): void {
    const connection = incoming instanceof Http2ServerRequest ? incoming.stream.session : incoming.socket;
    if (connection === undefined) return;
    this.#setBusy(connection);
    this.#requests.set(connection, (this.#requests.get(connection) ?? 0) + 1);
    outgoing.once('close', () => {
      const others = (this.#requests.get(connection) ?? 0) - 1;
      if (others > 0) {
        this.#requests.set(connection, others);
        return;
      }
      this.#requests.delete(connection);
      if (!connection.destroyed) this.#setIdle(connection);
    });
  }
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
