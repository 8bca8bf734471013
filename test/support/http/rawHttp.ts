import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A response in the form in which it arrived. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Opens a connection to a server by its base URL. */
export async function openConnection(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
}

/** Reads a response with a Content-Length, and leaves the connection open. Fails if the connection ends earlier. */
export async function readAnswer(socket: Socket): Promise<RawAnswer> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    const answer = parseAnswer(bytes);
    if (answer !== undefined) return answer;
    const chunk: unknown = socket.read() ?? (await nextChunk(socket));
    if (chunk === null) throw new Error(`the connection ended after ${JSON.stringify(bytes.toString())}`);
    if (Buffer.isBuffer(chunk)) bytes = Buffer.concat([bytes, chunk]);
  }
}

/** Sends a request without a body on a separate connection. */
export async function ask(
  url: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawAnswer> {
  const socket = await openConnection(url);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${target} HTTP/1.1\r\nHost: a\r\n${lines.join('')}\r\n`);
  const answer = await readAnswer(socket);
  socket.destroy();
  return answer;
}

/** Resolves when the server has ended or reset a connection. */
export async function ended(socket: Socket): Promise<void> {
  if (socket.readableEnded || socket.closed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.once('end', resolve).once('close', resolve).resume();
  await promise;
}

async function nextChunk(socket: Socket): Promise<unknown> {
  if (socket.readableEnded) return null;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const settled = () => resolve();
  socket.once('readable', settled).once('end', settled).once('error', reject);
  try {
    await promise;
  } finally {
    socket.off('readable', settled).off('end', settled).off('error', reject);
  }
  return socket.read() ?? (socket.readableEnded ? null : '');
}

function parseAnswer(bytes: Buffer): RawAnswer | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const body = bytes.subarray(headEnd + 4);
  if (body.length < Number(headers.get('content-length'))) return undefined;
  return { status: Number(statusLine.split(' ')[1]), headers, body: body.toString() };
}
