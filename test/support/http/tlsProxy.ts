import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { createServer } from 'node:tls';
import { onTestFinished } from 'vitest';

const fixture = (name: string) => readFile(new URL(`../../fixtures/tls/${name}`, import.meta.url));

/** Starts a proxy that uses TLS with the certificate `first.crt`, and forwards bytes. It stops when the test ends. */
export async function startTlsProxy(url: string): Promise<string> {
  const { hostname: host, port } = new URL(url);
  const certificate = { cert: await fixture('first.crt'), key: await fixture('first.key') };
  const server = createServer(certificate, (client) => {
    const service = connect({ host, port: Number(port) });
    for (const [from, to] of [
      [client, service],
      [service, client],
    ] as const)
      from.on('error', () => to.destroy()).pipe(to);
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the proxy does not listen on a port');
  return `https://127.0.0.1:${address.port}`;
}
