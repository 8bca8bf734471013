import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Violation } from '../support/violation.ts';
import { RESPONSE_MS, takeResponse, type WireResponse } from './responseReader.ts';

const QUIET_MS = 10;
const NO_MORE_MS = 100;
const STATUS_START = Buffer.from('HTTP/');

/** A connection to the server, which reads strictly what comes. */
export class Connection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.of();
  #isEnded = false;
  #isCancelled = false;
  #wake: () => void = () => undefined;
  /** Whether the server has closed the connection first. */
  isCut = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    // A reset after the response is HTTP's; without a response, the reader reports the end.
    socket.on('error', () => undefined);
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        this.isCut ||= !this.#isCancelled;
        this.#isEnded = true;
        this.#wake();
      });
    }
  }

  static async open(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    await once(socket, 'connect');
    return new Connection(socket);
  }

  /** Whether a request can be sent. */
  get isOpen(): boolean {
    return !this.#isEnded && this.#socket.writable;
  }

  write(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  /** Waits until what has come is all that is expected, or nothing has come for longer than a response takes. */
  async untilAll(isAll: (received: Buffer) => boolean): Promise<Buffer> {
    for (let size = -1; size !== this.#received.length && !this.#isEnded && !isAll(this.#received); ) {
      size = this.#received.length;
      await this.#awaitBytes(performance.now() + NO_MORE_MS).catch(() => undefined);
    }
    return this.#received;
  }

  /** Closes the client's side. The server may then cancel what it has not finished. */
  end(): void {
    this.#isCancelled = true;
    this.#socket.end();
  }

  /**
   * Waits until nothing has come for a moment, or what has come is a whole response. It only makes responses likely: a
   * client that closes its side at once would cancel its request.
   */
  async untilQuiet(isHead: boolean): Promise<void> {
    for (let size = -1; size !== this.#received.length && !this.#isEnded; ) {
      size = this.#received.length;
      await this.#awaitBytes(performance.now() + QUIET_MS).catch(() => undefined);
    }
    const deadline = performance.now() + RESPONSE_MS;
    while (!isHead && isBegun(this.#received) && !this.#isEnded) await this.#awaitBytes(deadline);
  }

  /**
   * Waits for the next response.
   * @returns undefined if the server has closed the connection
   * @throws Violation for anything else, and when nothing comes
   */
  async nextResponse(isHead = false): Promise<WireResponse | undefined> {
    const deadline = performance.now() + RESPONSE_MS;
    for (;;) {
      const taken = takeResponse(this.#received, isHead);
      if (taken !== undefined) {
        this.#received = taken.rest;
        return taken.response;
      }
      if (this.#isEnded) {
        if (this.#received.length === 0) return undefined;
        throw new Violation(`the connection ended within a response: ${this.#received.toString('latin1')}`);
      }
      await this.#awaitBytes(deadline);
    }
  }

  /** Everything that comes until the server closes the connection, as bytes. */
  async untilEnd(): Promise<Buffer> {
    const deadline = performance.now() + RESPONSE_MS;
    while (!this.#isEnded) await this.#awaitBytes(deadline);
    return this.#received;
  }

  async #awaitBytes(deadline: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const error = () => new Violation(`neither response nor end within ${RESPONSE_MS} ms`);
    const timer = setTimeout(() => reject(error()), Math.max(0, deadline - performance.now()));
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** Whether bytes end within an HTTP/1 response. */
function isBegun(bytes: Buffer): boolean {
  for (let rest = bytes; rest.length > 0 && rest.subarray(0, 5).equals(STATUS_START); ) {
    const taken = takeResponse(rest, false);
    if (taken === undefined) return true;
    rest = taken.rest;
  }
  return false;
}
