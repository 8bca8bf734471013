import type { EventEmitter } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Http2Server } from 'node:http2';
import { httpExpectationFailed, httpHeadersTooLarge, methodNotAllowed, shuttingDown } from '../errors/httpErrors.ts';
import type { IdentityError } from '../errors/identityError.ts';
import { answerParserErrors } from './clientError.ts';
import { drainServer, followRequests, followSessions } from './drain.ts';
import { errorResponse } from './errorResponse.ts';
import { closeAfter, type Incoming, type Outgoing } from './exchange.ts';
import { createHttp2Server, hasLargeHeaders } from './http2Server.ts';
import { switchProtocols } from './protocolSwitch.ts';
import { answerRaw } from './rawAnswer.ts';
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

/** Times in milliseconds. */
export interface HttpServerOptions {
  /** How long what is left of a request's body is read and dropped once its answer is written; default 30 s. */
  readonly lingerMs?: number;
  /** How long a request's headers may take to arrive; default 60 s. */
  readonly headersTimeoutMs?: number;
}

// Google's load balancers keep idle connections for 600 s; who closes one sooner loses the request that is on its way.
const keepAliveTimeout = 620_000;

/**
 * Makes the server of an application, not yet listening: HTTP/1, and on the same port HTTP/2 for clients that begin with it,
 * as gRPC's do. Whatever Node itself refuses gets our error body too.
 */
export function createHttpServer(app: Application, options: HttpServerOptions = {}): HttpServer {
  const { lingerMs = 30_000, headersTimeoutMs = 60_000 } = options;
  const server = createHttp1Server(headersTimeoutMs);
  const http2Server = createHttp2Server(keepAliveTimeout);
  const running = followRequests([server, http2Server]);
  const open = {
    running,
    http2Server,
    sessions: followSessions(http2Server),
    undecided: switchProtocols(server, http2Server, headersTimeoutMs),
  };
  const listener = requestListener(app, lingerMs);
  let draining = false;
  const answer = (incoming: Incoming, outgoing: Outgoing) => {
    if (draining) return refuse(shuttingDown(), incoming, outgoing, lingerMs);
    if (hasLargeHeaders(incoming)) return refuse(httpHeadersTooLarge(), incoming, outgoing, lingerMs);
    return listener(incoming, outgoing);
  };
  for (const one of [server, http2Server]) answerRequests(one, answer, lingerMs);
  answerParserErrors(server, running);
  refuseTunnels(server, http2Server, lingerMs);
  return {
    server,
    drain(limitMs) {
      draining = true;
      return drainServer(server, open, limitMs);
    },
  };
}

function createHttp1Server(headersTimeout: number): Server {
  return createServer({
    keepAliveTimeout,
    headersTimeout,
    connectionsCheckingInterval: Math.min(30_000, headersTimeout / 2),
    // A long upload is limited by its own call's time.
    requestTimeout: 0,
    // Such a request is refused with our body further on.
    requireHostHeader: false,
  });
}

function answerRequests(
  server: EventEmitter,
  answer: (incoming: Incoming, outgoing: Outgoing) => Promise<void>,
  lingerMs: number,
): void {
  server.on('request', answer);
  server.on('checkContinue', (incoming: Incoming, outgoing: Outgoing) => {
    continueOnDemand(incoming, outgoing);
    server.emit('request', incoming, outgoing);
  });
  server.on('checkExpectation', (incoming: Incoming, outgoing: Outgoing) =>
    refuse(httpExpectationFailed(), incoming, outgoing, lingerMs),
  );
}

function refuse(error: IdentityError, incoming: Incoming, outgoing: Outgoing, lingerMs: number): Promise<void> {
  closeAfter(outgoing);
  return writeResponse(errorResponse(error, newRequestId(), incoming.headers['content-type']), outgoing, lingerMs);
}

function refuseTunnels(server: Server, http2Server: Http2Server, lingerMs: number): void {
  server.on('connect', (_incoming, socket) => void answerRaw(socket, methodNotAllowed()));
  http2Server.on('connect', (incoming: Incoming, outgoing: Outgoing) =>
    refuse(methodNotAllowed(), incoming, outgoing, lingerMs),
  );
}
