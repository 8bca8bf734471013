import type { EventEmitter } from 'node:events';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { Http2Session } from 'node:http2';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { tooManyConnections } from '../errors/httpErrors.ts';
import type { IdentityError } from '../errors/identityError.ts';
import { fixedLimits, type Limits } from '../limits.ts';
import { clientAddress, clientKey, closed, type Incoming, isHttp1, type Outgoing } from './exchange.ts';
import { writeRawError } from './responses.ts';

/** A number of places for calls. Above it they are rejected instead of queued: their clients know whether to wait. */
export class ConcurrencyLimit {
  readonly #limit: number;
  readonly #rejection: (limit: number) => IdentityError;
  #running = 0;

  /** @param rejection creates the error of a call above the limit */
  constructor(limit: number, rejection: (limit: number) => IdentityError) {
    this.#limit = limit;
    this.#rejection = rejection;
  }

  get isFull(): boolean {
    return this.#running >= this.#limit;
  }

  /** Throws while no place is free, before the body of a call is received. Takes none, since a body may take its time. */
  check(): void {
    if (this.isFull) throw this.#rejection(this.#limit);
  }

  /** Takes a place until it is disposed of, which may happen repeatedly. */
  enter(): Disposable {
    this.check();
    this.#running++;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#running--;
        isHeld = false;
      },
    };
  }
}

/** The numbers of open connections or requests by a key, such as the client. */
class OpenCounts<Key> {
  readonly #counts = new Map<Key, number>();

  of(key: Key): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: Key): void {
    this.#counts.set(key, this.of(key) + 1);
  }

  remove(key: Key): void {
    const others = this.of(key) - 1;
    if (others > 0) this.#counts.set(key, others);
    else this.#counts.delete(key);
  }
}

/** What carries requests: a connection of HTTP/1, or a session of HTTP/2. */
type Connection = Duplex | Http2Session;

function connectionOf(outgoing: Outgoing): Connection {
  return isHttp1(outgoing) ? outgoing.req.socket : (outgoing.stream.session ?? outgoing.req.socket);
}

/** Resolves when a response is closed, over HTTP/1 also the rest of its request's body. */
async function received(incoming: Incoming, outgoing: Outgoing): Promise<void> {
  const { socket } = incoming;
  await closed(outgoing);
  // A connection that still reads the rest of a body closes after it.
  if (isHttp1(outgoing) && !incoming.complete && !socket.destroyed) await closed(socket);
}

/**
 * The requests whose responses their clients have not yet received. One client and one connection have a limited number of
 * them, so that clients that read no responses take nothing from the others.
 */
export class RequestsInFlight {
  readonly #responses = new Set<Outgoing>();
  readonly #ofClients = new OpenCounts<string>();
  readonly #ofConnections = new OpenCounts<Connection>();
  readonly #perClient: number;
  readonly #trustedProxies: number;
  #onEmpty: (() => void) | undefined;

  /** @param trustedProxies the number of addresses that trusted proxies append to `X-Forwarded-For` */
  constructor(perClient: number, trustedProxies: number) {
    this.#perClient = perClient;
    this.#trustedProxies = trustedProxies;
  }

  get responses(): ReadonlySet<Outgoing> {
    return this.#responses;
  }

  /** Whether the client of a connection, or of a request on it, has as many requests as it may. */
  isFull({ remoteAddress }: Pick<Socket, 'remoteAddress'>, headers: IncomingHttpHeaders = {}): boolean {
    return this.#ofClients.of(this.#clientOf(remoteAddress, headers)) >= this.#perClient;
  }

  #clientOf(remoteAddress: string | undefined, headers: IncomingHttpHeaders): string {
    return clientKey(clientAddress(remoteAddress, headers['x-forwarded-for']?.toString(), this.#trustedProxies));
  }

  /** Whether the client and the connection of a further request are below their limits. */
  admits({ headers, socket }: Incoming, outgoing: Outgoing): boolean {
    return !this.isFull(socket, headers) && !this.isFlooded(connectionOf(outgoing));
  }

  /** Whether a connection has as many requests as it may. Over HTTP/2, a setting limits the open ones; as many may be reset. */
  isFlooded(connection: Connection): boolean {
    const most = connection instanceof Duplex ? fixedLimits.pipelinedRequests : 2 * fixedLimits.streamsPerConnection;
    return this.#ofConnections.of(connection) >= most;
  }

  /** Counts a refused stream of a session with those that were read at the same time. */
  async countRefused(session: Http2Session): Promise<void> {
    this.#ofConnections.add(session);
    await setImmediate();
    this.#ofConnections.remove(session);
  }

  /**
   * Handles a request. It counts until its handler has ended, even if the client resets it before, and until its response is
   * closed, over HTTP/1 also the rest of its body.
   */
  async run(incoming: Incoming, outgoing: Outgoing, handle: () => Promise<void>): Promise<void> {
    const client = this.#clientOf(incoming.socket.remoteAddress, incoming.headers);
    const connection = connectionOf(outgoing);
    this.#ofConnections.add(connection);
    this.#ofClients.add(client);
    this.#responses.add(outgoing);
    const isReceived = received(incoming, outgoing);
    try {
      await handle();
      await isReceived;
    } finally {
      this.#responses.delete(outgoing);
      this.#ofClients.remove(client);
      this.#ofConnections.remove(connection);
      if (this.#responses.size === 0) this.#onEmpty?.();
    }
  }

  /** Whether a connection has a request in flight. */
  isUsing(connection: Connection): boolean {
    return this.#ofConnections.of(connection) > 0;
  }

  /** Resolves when no request is in flight. */
  async emptied(): Promise<void> {
    if (this.#responses.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    await promise;
  }
}

/**
 * The turns of requests on one HTTP/1 connection. Responses have the order of their requests anyway, and a client that sends
 * hundreds at once gets no more of the processor than others.
 */
export class ConnectionTurns {
  /** What resumes the waiting requests, by the connections with one at work. */
  readonly #waiting = new WeakMap<Socket, (() => void)[]>();

  /** Waits for the responses before this one. Returns whether the connection still takes it. */
  async next(socket: Socket, outgoing: Outgoing): Promise<boolean> {
    const waiting = this.#waiting.get(socket);
    if (waiting === undefined) this.#waiting.set(socket, []);
    else await new Promise<void>((resolve) => waiting.push(resolve));
    outgoing.once('close', () => {
      const resume = this.#waiting.get(socket)?.shift();
      if (resume === undefined) this.#waiting.delete(socket);
      else resume();
    });
    // Node 24.7 closes no response that has not got the connection yet.
    if (!socket.writable) outgoing.emit('close');
    return socket.writable;
  }
}

/** Takes the listeners of an event away from a server. Returns a function that passes an event on to them. */
export function takeListeners(server: EventEmitter, event: string): (...args: readonly unknown[]) => void {
  const listeners = server.listeners(event);
  server.removeAllListeners(event);
  return (...args) => {
    for (const listener of listeners) Reflect.apply(listener, server, args);
  };
}

/**
 * Limits the open connections of a server, whatever they do: during the TLS handshake too, and before their first byte.
 * A further one gets 503, or is closed where the server has TLS. So does one of a client that has too many requests: a
 * handshake or a session costs more than any of them.
 * @returns the open connections
 */
export function limitConnections(
  server: Server | TlsServer,
  limits: Pick<Limits, 'connections' | 'perClient'> & { readonly isFull: (socket: Socket) => boolean },
): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  const ofClients = new OpenCounts<string>();
  const passOn = takeListeners(server, 'connection');
  server.on('connection', (socket: Socket) => {
    const client = clientKey(socket.remoteAddress);
    if (open.size >= limits.connections || ofClients.of(client) >= limits.perClient || limits.isFull(socket)) {
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
