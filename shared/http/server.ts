import type { EventEmitter } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createHttp2, type Http2Server, type Http2ServerRequest } from 'node:http2';
import {
  httpExpectationFailed,
  httpHeadersTimeout,
  httpHeadersTooLarge,
  httpMalformed,
  methodNotAllowed,
  shuttingDown,
} from '../errors/httpErrors.ts';
import type { IdentityError } from '../errors/identityError.ts';
import { drainServer, followRequests, followSessions, type RunningRequests } from './drain.ts';
import { errorResponse, newRequestId, writeRawError } from './errorResponse.ts';
import { closeAfter, continueOnDemand, type Incoming, isHttp1, type Outgoing } from './exchange.ts';
import { switchProtocols } from './protocolSwitch.ts';
import { type Application, requestListener, writeResponse } from './requestListener.ts';

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
  for (const one of [server, http2Server]) handleRequests(one, answer, lingerMs);
  handleParserErrors(server, running);
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

function handleRequests(
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
  server.on('connect', (_incoming, socket) => void writeRawError(socket, methodNotAllowed()));
  http2Server.on('connect', (incoming: Incoming, outgoing: Outgoing) =>
    refuse(methodNotAllowed(), incoming, outgoing, lingerMs),
  );
}

/** Node's own limit for HTTP/1. */
const maxHeaderBytes = 16_384;

/** Makes an HTTP/2 server for connections without TLS; those without any traffic for `idleMs` take no new requests and end. */
function createHttp2Server(idleMs: number): Http2Server {
  // What is a little too large can be answered 431; the protocol itself refuses what is much larger.
  const server = createHttp2({ settings: { maxConcurrentStreams: 100, maxHeaderListSize: 4 * maxHeaderBytes } });
  server.prependListener('request', bracketAuthority);
  server.on('session', (session) => session.setTimeout(idleMs, () => session.close()));
  return server;
}

/** Whether an HTTP/2 request's headers are larger than this server reads; HTTP/1's parser refuses such a request by itself. */
function hasLargeHeaders({ httpVersionMajor, rawHeaders }: Incoming): boolean {
  if (httpVersionMajor === 1) return false;
  return rawHeaders.reduce((bytes, text) => bytes + text.length, 0) > maxHeaderBytes;
}

/** Node's own client, and with it Connect's, leaves out the brackets of an IPv6 address, which no URL can do without. */
function bracketAuthority({ headers }: Http2ServerRequest): void {
  const [, address, port] = /^([\da-f]*:[\da-f:]*):(\d+)$/i.exec(headers[':authority'] ?? '') ?? [];
  if (address !== undefined) headers[':authority'] = `[${address}]:${port}`;
}

/** Answers what Node's HTTP/1 parser gives up on. */
function handleParserErrors(server: Server, running: RunningRequests): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const current = [...running.responses].filter(isHttp1).find((outgoing) => outgoing.socket === socket);
    if (current?.req.complete) endAfter(current);
    else if (current?.headersSent || error.code === 'ECONNRESET') socket.destroy();
    else void writeRawError(socket, parserError(error.code));
  });
}

// What was malformed came after a whole request: that one is still answered, and nothing is read after it.
function endAfter(outgoing: Outgoing): void {
  const { socket } = outgoing;
  closeAfter(outgoing);
  outgoing.once('close', () => socket?.destroySoon());
}

/** The error of a request that the parser gave up on, by the parser's code. */
function parserError(code: string | undefined): IdentityError {
  if (code === 'HPE_HEADER_OVERFLOW') return httpHeadersTooLarge();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return httpHeadersTimeout();
  return httpMalformed();
}
