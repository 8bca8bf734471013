import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { connectTo, type Target } from './target.ts';

const HEAD = 'POST /admin/v1/import HTTP/1.1\r\nHost: a\r\n';
const DRIP_MS = 1_000;

/** Calls a function so many times a second, for ever. */
async function every(perSecond: number, call: () => void): Promise<void> {
  const begin = performance.now();
  for (let calls = 0; ; await setTimeout(10))
    for (; calls < ((performance.now() - begin) * perSecond) / 1_000; calls++) call();
}

/** Opens so many connections a second. Some bring their headers byte by byte, some a body without a token, some nothing. */
export function dripOrLinger(target: Target, perSecond: number, random: () => number): Promise<void> {
  return every(perSecond, () => {
    const kind = random();
    if (kind < 1 / 3) drip(target);
    else if (kind < 2 / 3) stayRefused(target);
    else connectTo(target).resume();
  });
}

/** Opens so many connections a second whose requests have no token, and whose bodies do not end. */
export function sendRefused(target: Target, perSecond: number): Promise<void> {
  return every(perSecond, () => stayRefused(target));
}

/** Opens connections that send requests without a pause, and awaits no response. One that the server ends is opened again. */
export async function pipeline(target: Target, connections: number): Promise<void> {
  const requests = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(100);
  const send = async () => {
    for (;;) {
      const socket = connectTo(target).resume();
      while (!socket.destroyed)
        if (!socket.write(requests)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
}

function drip(target: Target): void {
  const socket = connectTo(target).resume();
  socket.write(HEAD);
  const timer = setInterval(() => socket.write('x'), DRIP_MS);
  socket.once('close', () => clearInterval(timer));
}

/** Reads the response, and keeps its own side of the connection open. */
function stayRefused(target: Target): void {
  connectTo(target).resume().write(`${HEAD}Content-Length: 1000\r\n\r\n{`);
}
