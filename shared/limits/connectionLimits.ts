import { both, type LimitDefinition, SECOND, UNLIMITED } from './limitDefinition.ts';

/** The limits on connections that no variable sets. */
export const fixedConnectionLimits = {
  headerBytes: 16_384,
  bodyGraceMs: 10_000,
  bodyBytesPerSecond: 1_024,
  lingerMs: 30_000,
  requestsPerConnection: 100,
  stallMs: 60_000,
} as const;

/** The limits on connections, and on the time that requests take to arrive. */
export const connectionLimits = {
  headersMs: {
    unit: 'duration',
    limits: 'the time for the headers of a request, from the first byte or the start of the connection',
    selfHosted: 10 * SECOND,
    cloud: 60 * SECOND,
    reason: 'a connection without a request costs memory and a descriptor; in the cloud only the platform connects',
    above: '408',
  },
  headerBytes: {
    unit: 'bytes',
    limits: "the names and values of a request's headers, and its path",
    ...both(fixedConnectionLimits.headerBytes),
    reason: "Node's own limit; they are read before the token",
    above: '431',
  },
  keepAliveMs: {
    variable: 'KEEP_ALIVE_TIMEOUT',
    unit: 'duration',
    limits: 'the time for which a connection without a request stays open',
    selfHosted: 5 * SECOND,
    cloud: 620 * SECOND,
    reason: "longer than that of a proxy before the service; Google's load balancers reuse connections for 600 s",
    above: 'the connection is closed',
  },
  connections: {
    variable: 'MAX_CONNECTIONS',
    unit: 'count',
    limits:
      'the open connections, at most two thirds of the files that the system lets the process open; and the requests that are handled at once, without those whose complete response only waits for its client',
    selfHosted: 1_000,
    cloud: UNLIMITED,
    reason: 'databases and bodies need files too; in the cloud the platform limits the requests of a process',
    above: '503 and `retry-after`; over TLS, a new connection is closed',
  },
  perClient: {
    variable: 'MAX_PER_CLIENT',
    unit: 'count',
    limits:
      'the open connections of one client, and its requests until it has received their responses; unless it is set, half of MAX_CONNECTIONS. A client is an IPv4 address, or the first 64 bits of an IPv6 address; if TRUSTED_PROXIES is above 0, the forwarded one, and its connections are left to the proxy',
    selfHosted: 500,
    cloud: UNLIMITED,
    reason: 'one client must not use up all; the rest is for the others',
    above: 'as for MAX_CONNECTIONS; over HTTP/2, the stream is refused',
  },
  requestsPerConnection: {
    unit: 'count',
    limits: 'the requests at once of one connection',
    ...both(fixedConnectionLimits.requestsPerConnection),
    reason: 'each costs memory; clients open another connection for more',
    above: 'over HTTP/1, the connection is closed; over HTTP/2, the stream is refused',
  },
  stallMs: {
    unit: 'duration',
    limits:
      'the time for which a connection takes nothing more of a response, or brings nothing more of a body, however fast it was before',
    ...both(fixedConnectionLimits.stallMs),
    reason: 'a client that does not read or send keeps its connection open',
    above: 'the connection is closed; over HTTP/2, the stream is reset; 408 for a body',
  },
  bodyGraceMs: {
    unit: 'duration',
    limits: 'the time in which a body may arrive at any rate; only waiting for the client counts',
    ...both(fixedConnectionLimits.bodyGraceMs),
    reason: 'a network may pause',
    above: 'see the next row',
  },
  bodyBytesPerSecond: {
    unit: 'bytes',
    limits: 'the bytes per second of a body after that time, on average, at least, and those of a response in a minute',
    ...both(fixedConnectionLimits.bodyBytesPerSecond),
    reason: 'a body that never ends keeps its connection open',
    above: '408 below it; a response is aborted',
  },
  lingerMs: {
    unit: 'duration',
    limits: 'the time for the rest of a body after the response, of callers with a valid token',
    ...both(fixedConnectionLimits.lingerMs),
    reason: 'clients that send everything before they read would find the connection reset, and no response',
    above: 'the connection is closed, as after the response for all other callers',
  },
} as const satisfies Record<string, LimitDefinition>;
