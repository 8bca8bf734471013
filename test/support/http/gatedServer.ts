import type { ClientHttp2Session, Settings } from 'node:http2';
import type { Socket } from 'node:net';
import { afterEach, beforeEach } from 'vitest';
import { authHeaderMissing } from '../../../shared/errors/errors.ts';
import { createApp, type Route } from '../../../shared/http/app.ts';
import { type HttpServerOptions, type RunningServer, serve } from '../../../shared/http/server.ts';
import { configureLog } from '../../../shared/log.ts';
import { connectHttp2 } from './http2.ts';
import { openConnection } from './rawHttp.ts';

/**
 * A server for each test of a file. `GET /hello` responds at once, `GET /slow` when the gate opens, `POST /echo` with
 * the body, and `POST /refuse` with 401 before it receives the body. Its connections and the gate end with the test.
 */
export class GatedServer {
  gate = Promise.withResolvers<void>();
  /** Resolves when as many requests wait at the gate as `start` requires; by default one. */
  entered = Promise.withResolvers<AbortSignal>();
  /** The number of requests that have reached the gate. */
  waiting = 0;
  serving: RunningServer | undefined;
  readonly routes: readonly Route[];
  readonly #opened: (Socket | ClientHttp2Session)[] = [];
  #expected = 1;

  constructor(more: readonly Route[]) {
    this.routes = [
      { method: 'GET', path: '/hello', handler: (context) => context.json({ hello: 'world' }) },
      {
        method: 'GET',
        path: '/slow',
        handler: async (context) => {
          await this.pass(context.req.raw.signal);
          return context.json({ slow: true });
        },
      },
      { method: 'POST', path: '/echo', handler: async (context) => context.text(await context.req.text()) },
      {
        method: 'POST',
        path: '/refuse',
        handler: () => {
          throw authHeaderMissing();
        },
      },
      ...more,
    ];
  }

  get url(): string {
    if (this.serving === undefined) throw new Error('the server has not started');
    return this.serving.url;
  }

  /** Starts the server of this test. `expected` is the number of requests for `entered`. */
  async start(limits: HttpServerOptions = {}, expected = 1, drainMs?: number): Promise<RunningServer> {
    this.#expected = expected;
    this.serving = await this.another(limits, drainMs);
    return this.serving;
  }

  /** Starts a server with the same routes. The test closes it. */
  another(limits: HttpServerOptions = {}, drainMs = 10_000): Promise<RunningServer> {
    return serve({ app: createApp({ routes: this.routes }), host: '127.0.0.1', port: 0, limits, drainMs });
  }

  /** Waits at the gate. */
  async pass(signal: AbortSignal): Promise<void> {
    this.waiting++;
    if (this.waiting === this.#expected) this.entered.resolve(signal);
    await this.gate.promise;
  }

  /** Opens a connection, and sends some text. */
  async open(text = ''): Promise<Socket> {
    const socket = await openConnection(this.url);
    this.#opened.push(socket);
    socket.on('error', () => undefined).write(text);
    return socket;
  }

  async openSession(settings?: Settings): Promise<ClientHttp2Session> {
    const session = await connectHttp2(this.url, settings);
    this.#opened.push(session);
    return session;
  }

  reset(): void {
    configureLog('silent');
    [this.gate, this.entered, this.waiting] = [Promise.withResolvers(), Promise.withResolvers(), 0];
  }

  async end(): Promise<void> {
    this.gate.resolve();
    for (const connection of this.#opened.splice(0)) connection.destroy();
    await this.serving?.close();
    this.serving = undefined;
  }
}

/** Creates the server of each test of a file. `start` starts it. */
export function gatedServer(more: (server: () => GatedServer) => readonly Route[] = () => []): GatedServer {
  const server: GatedServer = new GatedServer(more(() => server));
  beforeEach(() => server.reset());
  afterEach(() => server.end());
  return server;
}
