import type { EventEmitter } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createHttp2, type Http2Server, type Http2ServerRequest } from 'node:http2';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import {
  httpExpectationFailed,
  httpHeadersTimeout,
  httpHeadersTooLarge,
  httpMalformed,
  methodNotAllowed,
  shuttingDown,
  tooManyRequests,
} from '../errors/httpErrors.ts';
import type { IdentityError } from '../errors/identityError.ts';
import { defaultLimits, fixedLimits, type Limits } from '../limits.ts';
import { Connections, descriptorsForConnections } from './connections.ts';
import { drainServer, type InFlightRequests, trackRequests, trackSessions } from './drain.ts';
import { errorResponse, newRequestId, writeRawError } from './errorResponse.ts';
import { closeAfter, continueOnDemand, type Incoming, isHttp1, type Outgoing } from './exchange.ts';
import { switchProtocols } from './protocolSwitch.ts';
import { type Application, requestListener, type WaitTimes, writeResponse } from './requestListener.ts';
import { StalledResponses } from './stalledResponses.ts';

/** A server's certificate, with the intermediate ones after it, and its private key; both PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A Node server that can be drained. */
export interface HttpServer {
  readonly server: Server | TlsServer;
  /**
   * Stops accepting connections, lets requests in flight finish, and rejects new ones on open connections (503).
   * Resolves with the number of requests that were aborted after `limitMs`.
   */
  drain(limitMs: number): Promise<number>;
}

/** Limits on connections; by default those of a self-hosted instance. */
export type HttpServerOptions = Partial<
  WaitTimes & Pick<Limits, 'headersMs' | 'keepAliveMs' | 'connections' | 'requests'> & { readonly stallGraceMs: number }
> & {
  /** Encrypts the connections; without it, a proxy or the platform does. */
  readonly certificate?: Certificate | undefined;
};

/**
 * Creates an application's server, not yet listening. It speaks HTTP/1, and HTTP/2 on the same port, also without TLS, as
 * gRPC clients do. Requests that Node itself rejects get the interface's error body too.
 */
export function createHttpServer(app: Application, options: HttpServerOptions = {}): HttpServer {
  const limits = { ...fixedLimits, ...defaultLimits('selfHosted'), ...options };
  const { headersMs, keepAliveMs, requestsPerConnection } = limits;
  const strangerTimes = { ...limits, lingerMs: limits.strangerLingerMs };
  const server = createHttp1Server(headersMs, keepAliveMs, options.certificate);
  const stalled = new StalledResponses(limits.stallGraceMs);
  const connections = new Connections(Math.min(limits.connections, descriptorsForConnections()), keepAliveMs, stalled);
  const http2Server = createHttp2Server();
  stalled.track([server, http2Server]);
  connections.track(server, http2Server);
  const inFlight = trackRequests([server, http2Server]);
  const open = {
    inFlight,
    http2Server,
    sessions: trackSessions(http2Server),
    undecided: switchProtocols(server, http2Server, { connections, timeoutMs: headersMs }),
  };
  const listener = requestListener(app, limits);
  let draining = false;
  const handle = async (incoming: Incoming, outgoing: Outgoing) => {
    // Over HTTP/2, a setting limits them, which a client learns only after its first requests.
    const isPipelined =
      incoming.httpVersionMajor === 1 && connections.requestsOn(incoming.socket) > requestsPerConnection;
    if (isPipelined) incoming.socket.destroy();
    else if (draining) await reject(shuttingDown(), incoming, outgoing, strangerTimes);
    else if (inFlight.responses.size > limits.requests && !stalled.abortOldest())
      await reject(tooManyRequests(), incoming, outgoing, strangerTimes);
    else if (hasLargeHeaders(incoming)) await reject(httpHeadersTooLarge(), incoming, outgoing, strangerTimes);
    else await listener(incoming, outgoing);
  };
  for (const protocolServer of [server, http2Server]) handleRequests(protocolServer, handle, strangerTimes);
  handleParserErrors(server, inFlight);
  rejectTunnels(server, http2Server, strangerTimes);
  return {
    server,
    drain(limitMs) {
      draining = true;
      return drainServer(server, open, limitMs);
    },
  };
}

function createHttp1Server(
  headersTimeout: number,
  keepAliveTimeout: number,
  certificate: Certificate | undefined,
): Server | TlsServer {
  const options = {
    keepAliveTimeout,
    headersTimeout,
    // Node rejects what reaches its limit.
    maxHeaderSize: fixedLimits.headerBytes + 1,
    connectionsCheckingInterval: Math.min(30_000, headersTimeout / 2),
    // The call's own timeout limits a long upload.
    requestTimeout: 0,
    // requestListener rejects such a request with the interface's error body.
    requireHostHeader: false,
  };
  if (certificate === undefined) return createServer(options);
  const ALPNProtocols = ['h2', 'http/1.1'];
  return createTlsServer({ ...options, ...certificate, ALPNProtocols, handshakeTimeout: headersTimeout });
}

function handleRequests(
  server: EventEmitter,
  handle: (incoming: Incoming, outgoing: Outgoing) => Promise<void>,
  times: WaitTimes,
): void {
  server.on('request', handle);
  server.on('checkContinue', (incoming: Incoming, outgoing: Outgoing) => {
    continueOnDemand(incoming, outgoing);
    server.emit('request', incoming, outgoing);
  });
  server.on('checkExpectation', (incoming: Incoming, outgoing: Outgoing) =>
    reject(httpExpectationFailed(), incoming, outgoing, times),
  );
}

function reject(error: IdentityError, incoming: Incoming, outgoing: Outgoing, times: WaitTimes): Promise<void> {
  closeAfter(outgoing);
  return writeResponse(errorResponse(error, newRequestId(), incoming.headers['content-type']), outgoing, times);
}

function rejectTunnels(server: EventEmitter, http2Server: Http2Server, times: WaitTimes): void {
  server.on('connect', (_incoming, socket) => void writeRawError(socket, methodNotAllowed()));
  http2Server.on('connect', (incoming: Incoming, outgoing: Outgoing) =>
    reject(methodNotAllowed(), incoming, outgoing, times),
  );
}

/** Creates an HTTP/2 server without TLS. */
function createHttp2Server(): Http2Server {
  // Moderately oversized headers get 431; the protocol itself rejects much larger ones.
  const server = createHttp2({
    settings: {
      maxConcurrentStreams: fixedLimits.requestsPerConnection,
      maxHeaderListSize: 4 * fixedLimits.headerBytes,
    },
  });
  server.prependListener('request', bracketAuthority);
  return server;
}

/** Whether an HTTP/2 request's headers exceed the limit; over HTTP/1, the parser itself rejects the request. */
function hasLargeHeaders({ httpVersionMajor, rawHeaders }: Incoming): boolean {
  if (httpVersionMajor === 1) return false;
  return rawHeaders.reduce((bytes, text) => bytes + text.length, 0) > fixedLimits.headerBytes;
}

/** Adds the brackets of an IPv6 address, which URLs require. Node's client omits them, and so does Connect's. */
function bracketAuthority({ headers }: Http2ServerRequest): void {
  const [, address, port] = /^([\da-f]*:[\da-f:]*):(\d+)$/i.exec(headers[':authority'] ?? '') ?? [];
  if (address !== undefined) headers[':authority'] = `[${address}]:${port}`;
}

/** Responds to requests that Node's HTTP/1 parser rejects. */
function handleParserErrors(server: EventEmitter, inFlight: InFlightRequests): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const current = [...inFlight.responses].filter(isHttp1).find((outgoing) => outgoing.socket === socket);
    if (current?.req.complete) endAfter(current);
    else if (current?.headersSent || error.code === 'ECONNRESET') socket.destroy();
    else void writeRawError(socket, parserError(error.code));
  });
}

// The malformed bytes follow a complete request: finish its response, and read no further.
function endAfter(outgoing: Outgoing): void {
  const { socket } = outgoing;
  closeAfter(outgoing);
  outgoing.once('close', () => socket?.destroySoon());
}

/** Returns the error for a parser's error code. */
function parserError(code: string | undefined): IdentityError {
  if (code === 'HPE_HEADER_OVERFLOW') return httpHeadersTooLarge();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return httpHeadersTimeout();
  return httpMalformed();
}
