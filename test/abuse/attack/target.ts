import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** The server that an attack meets, and a token of its owner. */
export interface Target {
  readonly url: string;
  readonly token: string;
}

function addressOf({ url }: Target) {
  const { hostname: host, port } = new URL(url);
  return { host, port: Number(port), allowHalfOpen: true };
}

/** Connects without TLS. The connection reports no error. */
export function connectPlain(target: Target): Socket {
  return connect(addressOf(target)).on('error', () => undefined);
}

/** Connects over TLS. The connection reports no error. */
export function connectTo(target: Target, protocol: 'h2' | 'http/1.1' = 'http/1.1'): Socket {
  const tls = { ...addressOf(target), servername: 'localhost', ALPNProtocols: [protocol], rejectUnauthorized: false };
  return connectTls(tls).on('error', () => undefined);
}
