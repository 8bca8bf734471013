import { once } from 'node:events';
import type { Server } from 'node:http';
import { log } from '../log.ts';
import type { Application } from './requestListener.ts';
import { createHttpServer } from './server.ts';

/** Where to listen, and how long running requests may take to finish when the server is closed. */
export interface ServeOptions {
  readonly app: Application;
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Milliseconds; default 10,000. */
  readonly drainMs?: number;
}

/** A listening server. `close` drains it and resolves with the number of requests that were cut. */
export interface Serving {
  readonly url: string;
  close(): Promise<number>;
}

/** Starts a server; resolves when it is listening, rejects when the address cannot be taken. */
export async function serve({ app, host, port, drainMs = 10_000 }: ServeOptions): Promise<Serving> {
  const { server, drain } = createHttpServer(app);
  server.listen(port, host);
  await once(server, 'listening');
  const url = serverUrl(server);
  log.listening(url);
  return { url, close: () => drain(drainMs) };
}

/** The base URL of a listening server, without a slash at its end. */
export function serverUrl(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server does not listen on a port');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

/** The signals that end this process. */
export const endingSignals = ['SIGTERM', 'SIGINT'] as const;

/**
 * Ends the process with 0 at SIGTERM or SIGINT, once `drain` has resolved with the number of requests that it cut.
 * A second signal ends it at once, with 1.
 */
export function shutDownOnSignals(drain: () => Promise<number>): void {
  let ending = false;
  const end = async (signal: string) => {
    if (ending) process.exit(1);
    ending = true;
    log.shuttingDown(signal);
    log.shutDown(await drain());
    process.exit(0);
  };
  for (const signal of endingSignals) process.on(signal, end);
}
