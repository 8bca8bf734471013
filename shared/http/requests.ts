import type { Duplex } from 'node:stream';
import { fixedLimits } from '../limits.ts';
import { clientAddress, clientKey } from './client.ts';
import { OpenCounts } from './concurrency.ts';
import { type Incoming, isHttp1, type Outgoing } from './exchange.ts';

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
