import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** One response: its status, and the milliseconds since its request was sent or due. */
export interface Answer {
  readonly status: number;
  readonly milliseconds: number;
}

/** The settings of a client. */
export interface ClientOptions {
  readonly connections: number;
  /**
   * The requests that are due in a second, whether or not the responses to earlier ones have come; a response's time counts
   * from then. By default each connection sends the next request as soon as it has a response.
   */
  readonly perSecond?: number;
}

/**
 * Sends requests over keep-alive connections, each of which waits for its response before it sends the next.
 * @param requests the heads of requests without a body
 * @returns the responses, in the order in which they came
 * @throws Error if a connection closes before the response
 */
export async function sendAll(
  url: string,
  requests: Iterable<string>,
  { connections, perSecond }: ClientOptions,
): Promise<Answer[]> {
  const { hostname, port } = new URL(url);
  const remaining = requests[Symbol.iterator]();
  const answers: Answer[] = [];
  const start = performance.now();
  let sent = 0;
  const run = async () => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    for (let next = remaining.next(); next.done !== true; next = remaining.next()) {
      const due = perSecond === undefined ? performance.now() : start + (sent++ / perSecond) * 1_000;
      const wait = due - performance.now();
      if (wait > 0) await setTimeout(wait);
      answers.push(await exchange(socket, next.value, due));
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, run));
  return answers;
}

function exchange(socket: Socket, request: string, begin: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
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

/** Returns a quantile, such as 0.99, of times. */
export function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
