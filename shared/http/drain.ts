import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';

/** The requests of one server that are not yet answered to the last byte. */
export interface RunningRequests {
  readonly responses: ReadonlySet<ServerResponse>;
  /** Called whenever one has ended. */
  onEnd: (() => void) | undefined;
}

/** Follows the requests of a server from its first byte on. */
export function followRequests(server: Server): RunningRequests {
  const responses = new Set<ServerResponse>();
  const running: RunningRequests = { responses, onEnd: undefined };
  const follow = (_request: IncomingMessage, response: ServerResponse) => {
    responses.add(response);
    response.once('close', () => {
      responses.delete(response);
      running.onEnd?.();
    });
  };
  for (const event of ['request', 'checkExpectation']) server.prependListener(event, follow);
  return running;
}

/**
 * Ends a server: no new connection is accepted, running requests finish. Connections stay open until then,
 * so that a request that was on its way gets an answer instead of a reset.
 *
 * @param limitMs after that what still runs is cut
 * @returns how many requests were cut
 */
export function drainServer(server: Server, running: RunningRequests, limitMs: number): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const end = () => {
    clearTimeout(timer);
    const cut = running.responses.size;
    server.closeAllConnections();
    server.close();
    resolve(cut);
  };
  const timer = setTimeout(end, limitMs);
  running.onEnd = () => {
    if (running.responses.size === 0) end();
  };
  for (const response of running.responses) {
    if (!response.headersSent) response.setHeader('connection', 'close');
  }
  // http.Server's own close would end idle connections at once.
  NetServer.prototype.close.call(server);
  running.onEnd();
  return promise;
}
