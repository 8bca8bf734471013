import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** The server that an attack meets, and the address that it comes from. */
export interface Target {
  readonly url: string;
  readonly from: string;
}

/** Connects as the attacker, over TLS where the server has it. The connection reports no error. */
export function connectTo({ url, from }: Target, protocol: 'h2' | 'http/1.1' = 'http/1.1'): Socket {
  const { protocol: scheme, hostname: host, port } = new URL(url);
  const options = { host, port: Number(port), localAddress: from, allowHalfOpen: true };
  // Attackers do not care whom they talk to.
  const tls = { ...options, ALPNProtocols: [protocol], rejectUnauthorized: false };
  return (scheme === 'https:' ? connectTls(tls) : connect(options)).on('error', () => undefined);
}
