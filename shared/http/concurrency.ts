import type { Duplex } from 'node:stream';
import type { IdentityError } from '../errors/identityError.ts';
import { fixedLimits } from '../limits.ts';
import { type Incoming, isHttp1, type Outgoing } from './exchange.ts';
import { clientAddress, clientKey } from './origin.ts';

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
export class OpenCounts<Key> {
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

/**
 * The requests whose responses their clients have not yet received. One client and one connection have a limited number of
 * them, so that clients that read no responses take nothing from the others.
 */
export class RequestsInFlight {
  readonly #responses = new Set<Outgoing>();
  readonly #ofClients = new OpenCounts<string>();
  readonly #ofConnections = new OpenCounts<Duplex>();
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

  /** Counts a request until its response closes. Returns false if its client has too many. */
  add(incoming: Incoming, outgoing: Outgoing): boolean {
    const { headers, socket } = incoming;
    const forwarded = headers['x-forwarded-for']?.toString();
    const client = clientKey(clientAddress(socket.remoteAddress, forwarded, this.#trustedProxies));
    if (this.#ofClients.of(client) >= this.#perClient) return false;
    // Over HTTP/2, a setting limits those of a connection.
    const connection = isHttp1(outgoing) ? socket : undefined;
    if (connection !== undefined) {
      if (this.#ofConnections.of(connection) >= fixedLimits.requestsPerConnection) return false;
      this.#ofConnections.add(connection);
    }
    this.#responses.add(outgoing);
    this.#ofClients.add(client);
    outgoing.once('close', () => {
      this.#responses.delete(outgoing);
      this.#ofClients.remove(client);
      if (connection !== undefined) this.#ofConnections.remove(connection);
      if (this.#responses.size === 0) this.#onEmpty?.();
    });
    return true;
  }

  /** Whether a connection of HTTP/1 has a request in flight. */
  isUsing(connection: Duplex): boolean {
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
