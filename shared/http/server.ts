import { createServer, type Server, type ServerResponse } from 'node:http';
import { httpExpectationFailed, methodNotAllowed, shuttingDown } from '../errors/errors.ts';
import type { IdentityError } from '../errors/identityError.ts';
import { answerRaw, parserFault } from './clientError.ts';
import { drainServer, followRequests, type RunningRequests } from './drain.ts';
import { errorResponse } from './errorResponse.ts';
import { newRequestId } from './requestId.ts';
import { type Application, requestListener } from './requestListener.ts';
import { continueOnDemand } from './requestRest.ts';
import { writeResponse } from './writeResponse.ts';

/** A Node server, and the way to end it. */
export interface HttpServer {
  readonly server: Server;
  /**
   * Stops accepting, lets running requests finish, refuses new ones on open connections (503).
   * Resolves with the number of requests that were cut after `limitMs`.
   */
  drain(limitMs: number): Promise<number>;
}

/** `lingerMs`: how long what is left of a request's body is read and dropped once its answer is written; default 30 s. */
export interface HttpServerOptions {
  readonly lingerMs?: number;
}

// Google's load balancers keep idle connections for 600 s; who closes one sooner loses the request that is on its way.
const keepAliveTimeout = 620_000;
const headersTimeout = 60_000;

/** Makes the server of an application, not yet listening. Whatever Node itself refuses gets our error body too. */
export function createHttpServer(app: Application, { lingerMs = 30_000 }: HttpServerOptions = {}): HttpServer {
  // A long upload is limited by its own call's time; a missing Host header is refused with our body further on.
  const server = createServer({ keepAliveTimeout, headersTimeout, requestTimeout: 0, requireHostHeader: false });
  const running = followRequests(server);
  const listener = requestListener(app, lingerMs);
  let draining = false;
  const refuse = (error: IdentityError, outgoing: ServerResponse) => {
    outgoing.setHeader('connection', 'close');
    return writeResponse(errorResponse(error, newRequestId()), outgoing, lingerMs);
  };
  server.on('request', (incoming, outgoing) =>
    draining ? refuse(shuttingDown(), outgoing) : listener(incoming, outgoing),
  );
  server.on('checkContinue', (incoming, outgoing) => {
    continueOnDemand(incoming, outgoing);
    server.emit('request', incoming, outgoing);
  });
  server.on('checkExpectation', (_incoming, outgoing) => refuse(httpExpectationFailed(), outgoing));
  answerNodesOwnErrors(server, running);
  return {
    server,
    drain(limitMs) {
      draining = true;
      return drainServer(server, running, limitMs);
    },
  };
}

function answerNodesOwnErrors(server: Server, running: RunningRequests): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const current = [...running.responses].find((response) => response.socket === socket);
    if (current?.req.complete) endAfter(current);
    else if (current?.headersSent || error.code === 'ECONNRESET') socket.destroy();
    else void answerRaw(socket, parserFault(error.code));
  });
  server.on('connect', (_request, socket) => void answerRaw(socket, methodNotAllowed()));
}

// What was malformed came after a whole request: that one is still answered, and nothing is read after it.
function endAfter(outgoing: ServerResponse): void {
  const { socket } = outgoing;
  if (!outgoing.headersSent) outgoing.setHeader('connection', 'close');
  outgoing.once('close', () => socket?.destroySoon());
}
