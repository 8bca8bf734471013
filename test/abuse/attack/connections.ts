import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { connectPlain, connectTo, type Target } from './target.ts';

const HEAD = 'POST /admin/v1/import HTTP/1.1\r\nHost: localhost\r\n';
const DRIP_MS = 1_000;

/** Keeps a number of connections open, and replaces each that ends. */
async function hold(connections: number, open: (index: number) => Socket): Promise<void> {
  const keep = async (index: number) => {
    for (;;) {
      const socket = open(index).resume();
      await Promise.race([once(socket, 'end'), once(socket, 'close')]);
      socket.destroy();
      await setTimeout(10);
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, index) => keep(index)));
}

/** Holds connections that send their headers, a body without a token or a body with one, a byte a second. */
export async function holdSlow(target: Target, connections: number): Promise<void> {
  const starts = [
    HEAD,
    `${HEAD}Content-Length: 100000\r\n\r\n`,
    `${HEAD}Authorization: Bearer ${target.token}\r\nContent-Length: 100000\r\n\r\n`,
  ];
  await hold(connections, (index) => {
    const socket = connectTo(target);
    socket.write(starts[index % starts.length] ?? '');
    const timer = setInterval(() => socket.write('x'), DRIP_MS);
    return socket.once('close', () => clearInterval(timer));
  });
}

/** The beginning of a ClientHello of 512 bytes: its record, type and length. */
const HELLO = Buffer.from('16030102000100' + '01fc0303', 'hex');

/** Holds connections whose TLS handshakes begin, and never end. */
export async function holdHandshakes(target: Target, connections: number): Promise<void> {
  await hold(connections, () => {
    const socket = connectPlain(target);
    socket.write(HELLO);
    return socket;
  });
}

/** Asks for exports, and does not read them. */
export async function stallExports(target: Target, connections: number): Promise<void> {
  const body = '{"response_output":true}';
  const request = `POST /admin/v1/export HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${target.token}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const stall = async () => {
    for (;;) {
      const socket = connectTo(target);
      socket.write(request);
      await once(socket.pause(), 'close');
    }
  };
  await Promise.all(Array.from({ length: connections }, stall));
}

/** Sends requests without a pause over some connections, and awaits no response. */
export async function pipeline(target: Target, connections: number): Promise<void> {
  const requests = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(100);
  const send = async () => {
    for (;;) {
      const socket = connectTo(target).resume();
      while (!socket.destroyed)
        if (!socket.write(requests)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
}
