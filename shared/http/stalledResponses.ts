import type { EventEmitter } from 'node:events';
import { abortResponse, type Incoming, isHttp1, type Outgoing, stallEvents } from './exchange.ts';

/**
 * The responses that their clients do not take on, in the order in which they began to stall. They occupy a place each,
 * which a new connection or request may need more.
 */
export class StalledResponses {
  readonly #since = new Map<Outgoing, number>();
  readonly #graceMs: number;

  /** @param graceMs how long a response may stall before it can lose its place */
  constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  /** Follows the responses of the servers. */
  track(servers: readonly EventEmitter[]): void {
    const trackResponse = (_incoming: Incoming, outgoing: Outgoing) => {
      outgoing.on(stallEvents.begin, () => this.#since.set(outgoing, performance.now()));
      outgoing.on(stallEvents.end, () => this.#since.delete(outgoing));
    };
    for (const server of servers) server.prependListener('request', trackResponse);
  }

  /** Aborts the response that has stalled for the longest time. Returns false if there is none whose time is over. */
  abortOldest(): boolean {
    const oldest = this.#takeOldest();
    if (oldest !== undefined) abortResponse(oldest);
    return oldest !== undefined;
  }

  /** Closes the connection of that response. */
  closeOldest(): boolean {
    const oldest = this.#takeOldest();
    if (oldest === undefined) return false;
    if (isHttp1(oldest)) oldest.destroy();
    else oldest.stream.session?.destroy();
    return true;
  }

  #takeOldest(): Outgoing | undefined {
    const [[oldest, since] = []] = this.#since;
    if (oldest === undefined || since === undefined || performance.now() - since < this.#graceMs) return undefined;
    this.#since.delete(oldest);
    return oldest;
  }
}
