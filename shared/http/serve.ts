import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import { log } from '../log.ts';
import type { Application } from './requestListener.ts';
import { type Certificate, createHttpServer, type HttpServerOptions } from './server.ts';

/** The address to listen on, and the time that requests in flight get when the server closes. */
export interface ServeOptions {
  readonly app: Application;
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Milliseconds; default 10,000. */
  readonly drainMs?: number;
  /** The limits on connections; default as self-hosted, without a proxy. */
  readonly limits?: HttpServerOptions;
  /** Encrypts the connections by TLS. */
  readonly certificate?: Certificate | undefined;
}

/** A listening server. `close` drains it and resolves with the number of aborted requests. */
export interface RunningServer {
  readonly url: string;
  /** Replaces the certificate of a server with TLS, for new connections. */
  renewCertificate(certificate: Certificate): void;
  close(): Promise<number>;
}

/** Starts a server; resolves when it is listening, and rejects when the address is not available. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { app, host, port, drainMs = 10_000, limits = {}, certificate } = options;
  const { server, drain } = createHttpServer(app, { ...limits, certificate });
  server.listen(port, host);
  await once(server, 'listening');
  const url = serverUrl(server);
  log.listening(url);
  return {
    url,
    renewCertificate: (renewed) => {
      if (!(server instanceof TlsServer)) throw new TypeError('the server has no certificate to renew');
      server.setSecureContext(renewed);
    },
    close: () => drain(drainMs),
  };
}

/** Returns the base URL of a listening server, without a trailing slash. */
export function serverUrl(server: Server | TlsServer): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server does not listen on a port');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `${server instanceof TlsServer ? 'https' : 'http'}://${host}:${address.port}`;
}

/** The signals that shut this process down. */
export const terminationSignals = ['SIGTERM', 'SIGINT'] as const;

/**
 * Drains the server and exits with 0 at SIGTERM or SIGINT. A second signal exits immediately, with 1.
 * @param drain resolves with the number of aborted requests
 */
export function shutDownOnSignals(drain: () => Promise<number>): void {
  let shuttingDown = false;
  const shutDown = async (signal: string) => {
    if (shuttingDown) process.exit(1);
    shuttingDown = true;
    log.shuttingDown(signal);
    log.shutDown(await drain());
    process.exit(0);
  };
  for (const signal of terminationSignals) process.on(signal, shutDown);
}
