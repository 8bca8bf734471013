import type { Http2Session } from 'node:http2';
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import type { IdentityError } from '../errors/identityError.ts';
import { closed, isHttp1, type Outgoing } from './nodeResponse.ts';

/**
 * Limits the number of calls at a time. Rejects calls above the limit instead of queuing them, so that clients decide
 * whether to wait.
 */
export class ConcurrencyLimit {
  private readonly limit: number;
  private readonly rejection: (limit: number) => IdentityError;
  private running = 0;

  constructor(limit: number, rejection: (limit: number) => IdentityError) {
    this.limit = limit;
    this.rejection = rejection;
  }

  get isFull(): boolean {
    return this.running >= this.limit;
  }

  /**
   * Rejects a call above the limit. Call this method before the body of a call is received. This method does not count
   * the call, because a slow upload must not block other calls.
   */
  check(): void {
    if (this.isFull) throw this.rejection(this.limit);
  }

  /** Counts a call until the caller disposes of the result. A second disposal has no effect. */
  enter(): Place {
    this.check();
    this.running++;
    let isHeld = true;
    const leave = () => {
      if (isHeld) this.running--;
      isHeld = false;
    };
    const enterAgain = () => {
      if (!isHeld) this.running++;
      isHeld = true;
    };
    return { leave, enterAgain, [Symbol.dispose]: leave };
  }
}

/** A call that counts towards the limit. */
export interface Place extends Disposable {
  /** Stops counting the call while it waits, so that another call can run. */
  leave(): void;
  /**
   * Counts the call again after its wait, even if the limit is reached. After the wait, the call has the lock for which
   * other calls wait, so it must run.
   */
  enterAgain(): void;
}

type Connection = Duplex | Http2Session;

/**
 * Returns the HTTP/1 connection or the HTTP/2 session of a request. If the HTTP/2 session is closed, returns the
 * session's socket.
 */
export function connectionOf(outgoing: Outgoing): Connection {
  return isHttp1(outgoing) ? outgoing.req.socket : (outgoing.stream.session ?? outgoing.req.socket);
}

/** The requests whose clients have not yet received the response. */
export class RequestsInFlight {
  private readonly inFlight = new Set<Outgoing>();
  private readonly ofConnections = new WeakMap<Connection, Set<Outgoing>>();
  private onEmpty: (() => void) | undefined;

  get responses(): ReadonlySet<Outgoing> {
    return this.inFlight;
  }

  /**
   * Returns the responses on a connection that are not complete. Over HTTP/1, the server writes only the first of these
   * responses; the others wait.
   */
  of(connection: Connection): ReadonlySet<Outgoing> {
    return this.ofConnections.get(connection) ?? new Set();
  }

  /**
   * Handles a request. The request counts until its response is closed and its handler has ended. A request that the
   * client resets also counts until its handler has ended.
   */
  async run(outgoing: Outgoing, handle: () => Promise<void>): Promise<void> {
    const connection = connectionOf(outgoing);
    const ofConnection = this.ofConnections.get(connection) ?? new Set();
    this.ofConnections.set(connection, ofConnection.add(outgoing));
    this.inFlight.add(outgoing);
    const isClosed = closed(outgoing);
    try {
      await handle();
      await isClosed;
    } finally {
      this.inFlight.delete(outgoing);
      ofConnection.delete(outgoing);
      if (this.inFlight.size === 0) this.onEmpty?.();
    }
  }

  async emptied(): Promise<void> {
    if (this.inFlight.size === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.onEmpty = resolve;
    await promise;
  }
}

const systemReport = z.object({ userLimits: z.object({ open_files: z.object({ soft: z.unknown() }) }).optional() });

/**
 * Returns the number of files that connections may use, which is two thirds of the files that this process may open.
 * Returns infinity if the operating system has no limit, or like Windows does not report it.
 */
export function descriptorsForConnections(): number {
  const { soft } = systemReport.parse(process.report.getReport()).userLimits?.open_files ?? {};
  return typeof soft === 'number' ? Math.floor((soft * 2) / 3) : Number.POSITIVE_INFINITY;
}
