import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One response: its status, and the milliseconds since its request was sent. */
export interface Answer {
  readonly status: number;
  readonly milliseconds: number;
}

/**
 * Sends requests over keep-alive connections, each of which waits for its response before it sends the next.
 * @param requests the heads of requests without a body
 * @returns the responses, in the order in which they came
 */
export async function sendAll(url: string, requests: Iterable<string>, connections: number): Promise<Answer[]> {
  const { hostname, port } = new URL(url);
  const remaining = requests[Symbol.iterator]();
  const answers: Answer[] = [];
  const run = async () => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    for (let next = remaining.next(); next.done !== true; next = remaining.next())
      answers.push(await exchange(socket, next.value));
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, run));
  return answers;
}

function exchange(socket: Socket, request: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const begin = performance.now();
    let received = '';
    const settle = (end: () => void) => {
      socket.off('data', onData).off('close', onClose).off('error', reject);
      end();
    };
    const onData = (chunk: Buffer) => {
      received += chunk.toString('latin1');
      const status = completeStatus(received);
      if (status !== undefined) settle(() => resolve({ status, milliseconds: performance.now() - begin }));
    };
    const onClose = () => settle(() => reject(new Error(`the server closed the connection after: ${received}`)));
    socket.on('data', onData).on('close', onClose).on('error', reject);
    socket.write(request, 'latin1');
  });
}

/** Returns the status of a response with a content length, once all of it has arrived. */
function completeStatus(received: string): number | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [, length] = /\r\ncontent-length: (\d+)/i.exec(received) ?? [];
  if (length === undefined) throw new Error(`a response without a content length: ${received}`);
  return received.length < headEnd + 4 + Number(length) ? undefined : Number(received.slice(9, 12));
}

/** Returns a quantile, such as 0.99, of the response times in milliseconds. */
export function quantile(answers: readonly Answer[], share: number): number {
  const times = answers.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
}
