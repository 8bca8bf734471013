import { EventEmitter, once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** The direction of bytes: `up` from the client to the server. */
type Direction = 'up' | 'down';

/** A network between a client and a server. A test can make it fail. */
export interface TcpProxy {
  readonly url: string;
  /** The number of connections so far. */
  readonly connections: () => number;
  /** The number of ended connections. */
  readonly ended: () => number;
  /** The number of bytes in a direction so far, including lost bytes. */
  bytes(direction: Direction): number;
  /** Breaks the connection before the byte that follows `after` more bytes in a direction; once. */
  cut(direction: Direction, after: number): void;
  /** Changes the byte that follows `after` more bytes in a direction; once. */
  corrupt(direction: Direction, after: number): void;
  /** Blocks the connection that transfers the byte that follows `after` more bytes; once. */
  stall(direction: Direction, after: number): void;
  /** Stalls after `received` bytes from the server that follow more than `sent` bytes from the client; once. */
  stallResponse(sent: number, received: number): void;
  /** Whether the last fault has happened. */
  isSpent(): boolean;
  /** Resolves as soon as the next fault happens. */
  struck(): Promise<void>;
  /** Breaks all connections, cancels a pending fault, and rejects new connections until `accept`. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
  close(): Promise<void>;
}

interface Fault {
  readonly direction: Direction;
  readonly kind: 'cut' | 'corrupt' | 'stall';
  left: number;
}

/**
 * Starts a proxy to a server. `target` and the proxy's own address are http URLs. The proxy does not interpret bytes.
 */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const faults = new EventEmitter();
  let fault: Fault | undefined;
  /** A response that will stall, and the number of bytes that the client sends before it. */
  let awaited: { unsent: number; readonly received: number } | undefined;
  let [connections, ended] = [0, 0];
  const bytesSoFar = { up: 0, down: 0 };
  const inject = (kind: Fault['kind']) => (direction: Direction, after: number) => {
    awaited = undefined;
    fault = { direction, kind, left: after };
  };
  const pass = (direction: Direction, from: Socket, to: Socket) => {
    from.on('data', (bytes) => {
      bytesSoFar[direction] += bytes.length;
      if (direction === 'up' && awaited !== undefined) {
        awaited.unsent -= bytes.length;
        if (awaited.unsent < 0) inject('stall')('down', awaited.received);
      }
      const hit = fault?.direction === direction && bytes.length > fault.left ? fault : undefined;
      if (fault?.direction === direction && hit === undefined) fault.left -= bytes.length;
      if (hit?.kind === 'corrupt') bytes[hit.left] = (bytes[hit.left] ?? 0) ^ 0xff;
      if (hit !== undefined) {
        fault = undefined;
        faults.emit('struck');
      }
      if (hit?.kind === 'stall') from.pause();
      else if (hit?.kind === 'cut') {
        from.pause();
        // Writes the bytes before it first, so that the connection breaks exactly at that byte.
        to.write(bytes.subarray(0, hit.left), () => {
          from.destroy();
          to.destroy();
        });
      } else if (!to.write(bytes)) {
        from.pause();
        to.once('drain', () => from.resume());
      }
    });
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
  };
  const server = createServer((client) => {
    connections++;
    client.once('close', () => ended++);
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) sockets.add(socket);
    pass('up', client, upstream);
    pass('down', upstream, client);
  });
  const listen = (at: number) => new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  const stop = async () => {
    [fault, awaited] = [undefined, undefined];
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  await listen(0);
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    connections: () => connections,
    ended: () => ended,
    bytes: (direction) => bytesSoFar[direction],
    cut: inject('cut'),
    corrupt: inject('corrupt'),
    stall: inject('stall'),
    stallResponse: (sent, received) => {
      [fault, awaited] = [undefined, { unsent: sent, received }];
    },
    isSpent: () => fault === undefined && awaited === undefined,
    struck: async () => void (await once(faults, 'struck')),
    refuse: stop,
    accept: () => listen(address.port),
    close: stop,
  };
}
