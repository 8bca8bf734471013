import { type EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
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
import { log } from '../log.ts';
import {
  ConcurrencyLimit,
  ConnectionTurns,
  descriptorsForConnections,
  limitConnections,
  RequestsInFlight,
} from './concurrency.ts';
import { closeAfter, continueOnDemand, hasLeft, type Incoming, isHttp1, type Outgoing } from './exchange.ts';
import { createHttp2, type Http2, refuseStreams, switchProtocols } from './protocols.ts';
import { type Application, requestListener, type WaitTimes, writeResponse } from './requestListener.ts';
import { errorResponse, newRequestId, writeRawError } from './responses.ts';

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

/** Limits on connections; by default those of a self-hosted instance that clients reach directly. */
export type HttpServerOptions = Partial<
  WaitTimes & Pick<Limits, 'headersMs' | 'keepAliveMs' | 'connections' | 'perClient'>
> & {
  /** The number of addresses that trusted proxies append to `X-Forwarded-For`. */
  readonly trustedProxies?: number;
};

/**
 * The share of the connections that may be HTTP/2. Each carries many requests, all of which Node may read at once, before a
 * timer or another connection has its turn.
 */
const HTTP2_SHARE = 0.1;

/**
 * Creates an application's server, not yet listening. It speaks HTTP/1, and HTTP/2 on the same port, also without TLS, as
 * gRPC clients do. Requests that Node itself rejects get the interface's error body too.
 * @param certificate encrypts the connections; without it, a proxy or the platform does
 */
export function createHttpServer(
  app: Application,
  options: HttpServerOptions = {},
  certificate?: Certificate,
): HttpServer {
  const limits = { ...fixedLimits, ...defaultLimits('selfHosted'), trustedProxies: 0, ...options };
  const descriptors = descriptorsForConnections();
  const connections = Math.min(limits.connections, descriptors);
  const perClient = Math.min(limits.perClient, Math.ceil(descriptors / 2));
  const server = createHttp1Server(limits, certificate);
  const http2 = createHttp2(limits.keepAliveMs);
  // All connections of a proxy have one address.
  const isDirect = limits.trustedProxies === 0;
  const requests = new RequestsInFlight(perClient, limits.trustedProxies);
  const isFull = (socket: Socket) => isDirect && requests.isFull(socket);
  const mostSessions = Math.ceil(connections * HTTP2_SHARE);
  const isFullOfSessions = (socket: Socket) => http2.sessions.size >= mostSessions || isFull(socket);
  switchProtocols(server, http2.server, { timeoutMs: limits.headersMs, isFull: isFullOfSessions });
  const sockets = limitConnections(server, { connections, perClient: isDirect ? perClient : connections, isFull });
  refuseStreams(http2.server, requests, isDirect);
  const places = new ConcurrencyLimit(connections, tooManyRequests);
  const listener = requestListener(app, limits, places);
  let isDraining = false;
  const reject = (error: IdentityError, incoming: Incoming, outgoing: Outgoing) => {
    closeAfter(outgoing);
    const response = errorResponse(error, newRequestId(), incoming.headers['content-type']);
    return writeResponse(response, outgoing, { stallMs: limits.stallMs });
  };
  const turns = new ConnectionTurns();
  const respond = async (incoming: Incoming, outgoing: Outgoing, rejection: IdentityError | undefined) => {
    if (isHttp1(outgoing) && !(await turns.next(incoming.socket, outgoing))) return;
    // What was read behind the request comes first: it may be the reset of its stream.
    await setImmediate();
    if (hasLeft(incoming, outgoing)) return;
    if (rejection !== undefined) await reject(rejection, incoming, outgoing);
    else if (isDraining) await reject(shuttingDown(), incoming, outgoing);
    else if (places.isFull) await reject(tooManyRequests(), incoming, outgoing);
    else if (hasLargeHeaders(incoming)) await reject(httpHeadersTooLarge(), incoming, outgoing);
    else if (isAmbiguous(incoming)) await reject(httpMalformed(), incoming, outgoing);
    else await listener(incoming, outgoing);
  };
  const handle = (rejection?: IdentityError) => async (incoming: Incoming, outgoing: Outgoing) => {
    // Node's parsers go on with what they have read.
    if (hasLeft(incoming, outgoing)) return;
    if (requests.admits(incoming, outgoing)) {
      await requests.run(incoming, outgoing, () => respond(incoming, outgoing, rejection));
    } else if (outgoing.socket === null) incoming.socket.destroy();
    else await reject(tooManyRequests(), incoming, outgoing);
  };
  for (const one of [server, http2.server]) handleRequests(one, handle);
  server.on('connect', (_incoming, socket) => {
    socket.removeAllListeners('data');
    // The client would take the error for the response to an earlier request.
    if (requests.isUsing(socket)) socket.destroy();
    else writeRawError(socket, methodNotAllowed());
  });
  http2.server.on('connect', handle(methodNotAllowed()));
  handleParserErrors(server, requests);
  return {
    server,
    drain(limitMs) {
      isDraining = true;
      return drainServer({ server, http2, sockets, requests }, limitMs);
    },
  };
}

/** The suites of TLS: with forward secrecy and authenticated encryption, which are all of TLS 1.3 and some of 1.2. */
const ciphers = [
  ...['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'],
  ...['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305'].flatMap((suite) => {
    return [`ECDHE-ECDSA-${suite}`, `ECDHE-RSA-${suite}`];
  }),
].join(':');

function createHttp1Server(
  { headersMs, keepAliveMs }: Pick<Limits, 'headersMs' | 'keepAliveMs'>,
  certificate: Certificate | undefined,
): Server | TlsServer {
  const options = {
    keepAliveTimeout: keepAliveMs,
    headersTimeout: headersMs,
    // Node rejects what reaches its limit.
    maxHeaderSize: fixedLimits.headerBytes + 1,
    connectionsCheckingInterval: Math.min(30_000, headersMs / 2),
    // The call's own timeout limits a long upload.
    requestTimeout: 0,
    // requestListener rejects such a request with the interface's error body.
    requireHostHeader: false,
  };
  if (certificate === undefined) return createServer(options);
  const ALPNProtocols = ['h2', 'http/1.1'];
  const server = createTlsServer({ ...options, ...certificate, ciphers, ALPNProtocols, handshakeTimeout: headersMs });
  // There is no request yet to respond to.
  return server.removeAllListeners('tlsClientError').on('tlsClientError', (_error, socket) => socket.destroy());
}

type Handler = (incoming: Incoming, outgoing: Outgoing) => Promise<void>;

function handleRequests(server: EventEmitter, handle: (rejection?: IdentityError) => Handler): void {
  server.on('request', handle());
  server.on('checkContinue', (incoming: Incoming, outgoing: Outgoing) => {
    continueOnDemand(incoming, outgoing);
    server.emit('request', incoming, outgoing);
  });
  server.on('checkExpectation', handle(httpExpectationFailed()));
}

/** Whether an HTTP/2 request's headers exceed the limit; over HTTP/1, the parser itself rejects the request. */
function hasLargeHeaders({ httpVersionMajor, rawHeaders }: Incoming): boolean {
  if (httpVersionMajor === 1) return false;
  return rawHeaders.reduce((bytes, text) => bytes + text.length, 0) > fixedLimits.headerBytes;
}

/** Whether a proxy could take it for another request: by another `Host`, or since HTTP/1.0 knows no chunks (RFC 9112, 3.2 and 6.1). */
function isAmbiguous({ httpVersion, headers, rawHeaders }: Incoming): boolean {
  const hosts = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host');
  return hosts.length > 1 || (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined);
}

/** Responds to requests that Node's HTTP/1 parser rejects. */
function handleParserErrors(server: EventEmitter, { responses }: RequestsInFlight): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const current = [...responses].filter(isHttp1).find((outgoing) => outgoing.socket === socket);
    if (current?.req.complete) endAfter(current);
    else if (current?.headersSent || error.code === 'ECONNRESET') socket.destroy();
    else writeRawError(socket, parserError(error.code));
  });
}

// The malformed bytes follow a complete request: finish its response, and read no further.
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

interface OpenServer {
  readonly server: Server | TlsServer;
  readonly http2: Http2;
  readonly sockets: ReadonlySet<Socket>;
  readonly requests: RequestsInFlight;
}

/**
 * Closes a server. HTTP/1 connections stay open meanwhile, so that a request on its way gets a response instead of a reset.
 * HTTP/2 clients learn from GOAWAY which requests to retry.
 */
async function drainServer({ server, http2, sockets, requests }: OpenServer, limitMs: number): Promise<number> {
  for (const outgoing of requests.responses) closeAfter(outgoing);
  // http.Server's own close() would close idle connections immediately.
  NetServer.prototype.close.call(server);
  for (const session of http2.sessions) session.close();
  http2.server.on('session', (session) => session.close());
  await Promise.race([requests.emptied(), setTimeout(limitMs, undefined, { ref: false })]);
  const aborted = requests.responses.size;
  for (const session of http2.sessions) session.destroy();
  for (const socket of sockets) socket.destroy();
  server.close();
  return aborted;
}

/** The address to listen on, and the time that requests in flight get when the server closes. */
export interface ServeOptions {
  readonly app: Application;
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Milliseconds; default 10,000. */
  readonly drainMs?: number;
  /** The limits on connections; default as self-hosted, without a proxy. */
  readonly limits?: HttpServerOptions;
  /** Encrypts the connections by TLS. */
  readonly certificate?: Certificate | undefined;
}

/** A listening server. `close` drains it and resolves with the number of aborted requests. */
export interface RunningServer {
  readonly url: string;
  /** Replaces the certificate of a server with TLS, for new connections. */
  renewCertificate(certificate: Certificate): void;
  close(): Promise<number>;
}

/** Starts a server; resolves when it is listening, and rejects when the address is not available. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { app, host, port, drainMs = 10_000, limits = {}, certificate } = options;
  const { server, drain } = createHttpServer(app, limits, certificate);
  server.listen(port, host);
  await once(server, 'listening');
  const url = serverUrl(server);
  log.listening(url);
  return {
    url,
    renewCertificate: (renewed) => {
      if (!(server instanceof TlsServer)) throw new TypeError('the server has no certificate to renew');
      server.setSecureContext({ ...renewed, ciphers });
    },
    close: () => drain(drainMs),
  };
}

/** Returns the base URL of a listening server, without a trailing slash. */
export function serverUrl(server: Server | TlsServer): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server does not listen on a port');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `${server instanceof TlsServer ? 'https' : 'http'}://${host}:${address.port}`;
}
