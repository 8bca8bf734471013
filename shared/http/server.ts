import { type EventEmitter, once, setMaxListeners } from 'node:events';
import type { Server as Http1Server } from 'node:http';
import type { Http2Server, ServerHttp2Session } from 'node:http2';
import type { Server, Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import {
  httpExpectationFailed,
  httpHeadersTimeout,
  httpHeadersTooLarge,
  httpMalformed,
  httpProxyProtocol,
  httpTls,
  methodNotAllowed,
  shuttingDown,
  tooManyRequests,
} from '../errors/httpErrors.ts';
import type { IdentityError } from '../errors/identityError.ts';
import { defaultLimits, fixedLimits, type Limits } from '../limits.ts';
import { log } from '../log.ts';
import { ConcurrencyLimit, connectionOf, descriptorsForConnections, RequestsInFlight } from './concurrency.ts';
import {
  abortResponse,
  closeAfter,
  continueOnDemand,
  hasLeft,
  type Incoming,
  isHttp1,
  type Outgoing,
} from './nodeResponse.ts';
import { type ConnectionTimes, createHttp1, createHttp2, createPort, startOf } from './protocols.ts';
import { type Application, type RequestListener, requestListener, writeResponse } from './requestListener.ts';
import { errorResponse, newRequestId, writeRawError } from './responses.ts';

export interface HttpServer {
  readonly server: Server;
  /**
   * Stops accepting connections, rejects new requests on open connections with 503, and lets requests in flight finish.
   * Ends exports and imports some seconds before `limitMs`, so that they can still respond. After `limitMs`, aborts the
   * remaining requests. Resolves with the number of aborted requests.
   */
  drain(limitMs: number): Promise<number>;
}

/** The default values are those of a self-hosted instance. */
export type HttpServerOptions = Partial<{ readonly stallMs: number } & ConnectionTimes & Pick<Limits, 'connections'>>;

/**
 * The maximum share of connections that may use HTTP/2. An HTTP/2 connection can send many requests at once. If Node
 * reads all of these requests at once, timers and other connections are delayed.
 */
const HTTP2_SHARE = 0.1;

/**
 * The milliseconds before the end of a drain at which the server ends its calls. This must be more than 5 s, because a
 * call needs up to 5 s to end and to respond if the database does not respond.
 */
const END_OF_CALLS_MS = 7_000;

/**
 * Creates a server for an application. The server does not listen yet. It serves HTTP/1 and HTTP/2 on one port, both
 * without TLS, because a proxy or the platform encrypts connections. If Node itself rejects a request, the response
 * also has the error body of the interface.
 */
export function createHttpServer(app: Application, options: HttpServerOptions = {}): HttpServer {
  const limits = { ...fixedLimits, ...defaultLimits('selfHosted'), ...options };
  const connections = Math.min(limits.connections, descriptorsForConnections());
  const [http1, http2] = [createHttp1(limits), createHttp2()];
  const requests = new RequestsInFlight();
  const sessions = openSessions(http2, requests, limits.keepAliveMs);
  const maxSessions = Math.ceil(connections * HTTP2_SHARE);
  const server = createPort(http1, http2, {
    headersMs: limits.headersMs,
    isFullOfSessions: () => sessions.size >= maxSessions,
  });
  server.maxConnections = connections;
  const sockets = openSockets(server);
  const places = new ConcurrencyLimit(connections, tooManyRequests);
  const calls = new AbortController();
  // Each call adds a listener to this signal, so disable Node's warning about many listeners.
  setMaxListeners(0, calls.signal);
  const listener = requestListener(app, limits.stallMs, places, calls.signal);
  let isDraining = false;
  const rejectionOf = (incoming: Incoming): IdentityError | undefined => {
    if (isDraining) return shuttingDown();
    if (places.isFull) return tooManyRequests();
    if (hasLargeHeaders(incoming)) return httpHeadersTooLarge();
    return isAmbiguous(incoming) ? httpMalformed() : undefined;
  };
  const respond = async (incoming: Incoming, outgoing: Outgoing, rejection: IdentityError | undefined) => {
    // The client may already have sent a reset of this request's stream. Let the server process the received bytes
    // first.
    await setImmediate();
    if (hasLeft(incoming, outgoing)) return;
    const error = rejection ?? rejectionOf(incoming);
    if (error === undefined && asksForServer(incoming)) {
      const response = new Response(null, { status: 204, headers: { allow: 'GET, HEAD, POST, DELETE, OPTIONS' } });
      return await writeResponse(response, outgoing, { stallMs: limits.stallMs });
    }
    if (error === undefined) return listener(incoming, outgoing);
    closeAfter(outgoing);
    const response = errorResponse(error, newRequestId(), incoming.headers['content-type']);
    await writeResponse(response, outgoing, { stallMs: limits.stallMs });
  };
  const handle = (rejection?: IdentityError) => async (incoming: Incoming, outgoing: Outgoing) => {
    // After a connection was closed, Node's parser may still emit requests from bytes that it had received. Ignore
    // these requests.
    if (hasLeft(incoming, outgoing)) return;
    const connection = connectionOf(outgoing);
    if (requests.of(connection).size >= maxRequests(outgoing)) connection.destroy();
    else await requests.run(outgoing, () => respond(incoming, outgoing, rejection));
  };
  for (const server of [http1, http2]) handleRequests(server, handle);
  http1.on('connect', (_incoming, socket) => {
    // If the response to an earlier request is still missing, the client would mistake this error for that response. So
    // close the connection without a response.
    if (requests.of(socket).size > 0) socket.destroy();
    else writeRawError(socket, methodNotAllowed());
  });
  http2.on('connect', handle(methodNotAllowed()));
  handleConnectionEnds(http1, requests);
  handleParserErrors(http1, requests);
  return {
    server,
    drain(limitMs) {
      isDraining = true;
      const endCalls = () => calls.abort(shuttingDown());
      void setTimeout(Math.max(0, limitMs - END_OF_CALLS_MS), undefined, { ref: false }).then(endCalls);
      return drainServer({ server, http2, sockets, sessions, requests }, limitMs);
    },
  };
}

/**
 * The maximum number of requests in flight on a connection. HTTP/2's own setting limits only the open streams. In
 * addition to their requests, the server may still handle requests of streams that the client has reset.
 */
function maxRequests(outgoing: Outgoing): number {
  return isHttp1(outgoing) ? fixedLimits.pipelinedRequests : 2 * fixedLimits.streamsPerConnection;
}

function handleRequests(server: EventEmitter, handle: (rejection?: IdentityError) => RequestListener): void {
  server.on('request', handle());
  server.on('checkContinue', (incoming: Incoming, outgoing: Outgoing) => {
    continueOnDemand(incoming, outgoing);
    server.emit('request', incoming, outgoing);
  });
  server.on('checkExpectation', handle(httpExpectationFailed()));
}

/** Check this only over HTTP/2, because the HTTP/1 parser has already rejected a request with large headers. */
function hasLargeHeaders({ httpVersionMajor, rawHeaders }: Incoming): boolean {
  if (httpVersionMajor === 1) return false;
  return rawHeaders.reduce((bytes, text) => bytes + text.length, 0) > fixedLimits.headerBytes;
}

/**
 * Returns whether a proxy could interpret a request differently than this server does (RFC 9112, 3.2 and 6.1). This is
 * so if the request has several `Host` headers, if it has no `Host` header over HTTP/1.1, or if it has chunked encoding
 * over HTTP/1.0.
 */
function isAmbiguous({ httpVersion, httpVersionMajor, headers, rawHeaders }: Incoming): boolean {
  const hosts = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host');
  if (httpVersion === '1.0') return hosts.length > 1 || headers['transfer-encoding'] !== undefined;
  return hosts.length > 1 || (httpVersionMajor < 2 && hosts.length === 0);
}

/**
 * Returns whether a request concerns the server itself, not a path: `OPTIONS *` (RFC 9110, 9.3.7). Load balancers and
 * proxies probe with such requests.
 */
function asksForServer({ method, url }: Incoming): boolean {
  return method === 'OPTIONS' && url === '*';
}

/**
 * When a connection is closed, closes all its responses. This is necessary because Node itself closes only the response
 * that it is writing.
 */
function handleConnectionEnds(http1: Http1Server, requests: RequestsInFlight): void {
  http1.on('connection', (socket) => {
    socket.once('close', () => {
      for (const outgoing of requests.of(socket)) if (outgoing.socket === null) outgoing.emit('close');
    });
  });
}

function handleParserErrors(http1: Http1Server, requests: RequestsInFlight): void {
  const logged = new Set<string>();
  http1.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const [current] = [...requests.of(socket)].filter(isHttp1);
    if (current?.req.complete) endAfter(current);
    else if (current?.headersSent || error.code === 'ECONNRESET') socket.destroy();
    else writeRawError(socket, otherProtocol(socket, logged) ?? parserError(error.code));
  });
}

/**
 * The first bytes of other protocols. A proxy or a client with a wrong setting may use one of these protocols on this
 * port.
 */
const otherProtocols = [
  { start: 'PROXY ', error: httpProxyProtocol },
  { start: '\r\n\r\n\0\r\nQUIT\n', error: httpProxyProtocol },
  { start: '\x16\x03', error: httpTls },
];

/**
 * Returns an error if the connection uses another protocol. Logs each such error only once, even if it occurs for many
 * connections.
 */
function otherProtocol(socket: Socket, logged: Set<string>): IdentityError | undefined {
  const start = startOf(socket).toString('latin1');
  const error = otherProtocols.find((protocol) => start.startsWith(protocol.start))?.error();
  if (error === undefined || logged.has(error.message)) return error;
  logged.add(error.message);
  log.warn({ address: socket.remoteAddress }, error.message);
  return error;
}

// Malformed bytes arrived after a complete request. Send the response to this request, and then close the
// connection.
function endAfter(outgoing: Outgoing): void {
  const { socket } = outgoing;
  closeAfter(outgoing);
  outgoing.once('close', () => socket?.destroySoon());
}

function parserError(code: string | undefined): IdentityError {
  if (code === 'HPE_HEADER_OVERFLOW') return httpHeadersTooLarge();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return httpHeadersTimeout();
  return httpMalformed();
}

function openSockets(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

/**
 * Returns the set of the server's open HTTP/2 sessions. Adds and removes sessions later, as they open and close. Closes
 * sessions that have no request for `idleMs`.
 */
function openSessions(http2: Http2Server, requests: RequestsInFlight, idleMs: number): ReadonlySet<ServerHttp2Session> {
  const sessions = new Set<ServerHttp2Session>();
  http2.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    session.setTimeout(idleMs);
    session.on('timeout', () => {
      if (requests.of(session).size === 0) session.destroy();
    });
  });
  return sessions;
}

interface OpenServer {
  readonly server: Server;
  readonly http2: Http2Server;
  readonly sockets: ReadonlySet<Socket>;
  readonly sessions: ReadonlySet<ServerHttp2Session>;
  readonly requests: RequestsInFlight;
}

/**
 * Closes a server when no request is in flight, or after `limitMs`. Until then, HTTP/1 connections stay open, so that a
 * request on its way receives a response instead of a reset. Over HTTP/2, GOAWAY shows the clients which requests to
 * retry.
 */
async function drainServer(open: OpenServer, limitMs: number): Promise<number> {
  const { server, http2, sockets, sessions, requests } = open;
  for (const outgoing of requests.responses) closeAfter(outgoing);
  server.close();
  for (const session of sessions) session.close();
  http2.on('session', (session) => session.close());
  await Promise.race([requests.emptied(), setTimeout(limitMs, undefined, { ref: false })]);
  const aborted = requests.responses.size;
  for (const outgoing of requests.responses) abortResponse(outgoing);
  for (const session of sessions) session.destroy();
  for (const socket of sockets) socket.destroy();
  return aborted;
}

export interface ServeOptions {
  readonly app: Application;
  readonly host: string;
  /** The value 0 selects any free port. */
  readonly port: number;
  /** The milliseconds that requests in flight may take after the server begins to close. If absent, 10,000. */
  readonly drainMs?: number;
  readonly limits?: HttpServerOptions;
}

/** `close` drains the server, and resolves with the number of aborted requests. */
export interface RunningServer {
  readonly url: string;
  close(): Promise<number>;
}

export async function serve({ app, host, port, drainMs = 10_000, limits = {} }: ServeOptions): Promise<RunningServer> {
  const { server, drain } = createHttpServer(app, limits);
  server.listen(port, host);
  await once(server, 'listening');
  const url = serverUrl(server);
  log.info({ url }, 'listening');
  return { url, close: () => drain(drainMs) };
}

export function serverUrl(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server does not listen on a port');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
