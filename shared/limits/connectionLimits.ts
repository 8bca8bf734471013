import { both, type LimitDefinition, SECOND, UNLIMITED } from './limitDefinition.ts';

/** The limits on connections that no variable sets. */
export const fixedConnectionLimits = {
  headerBytes: 16_384,
  bodyGraceMs: 10_000,
  bodyBytesPerSecond: 1_024,
  lingerMs: 30_000,
  strangerLingerMs: 2_000,
  requestsPerConnection: 100,
  stallMs: 60_000,
  stallGraceMs: 5_000,
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
    limits: 'the open connections, and at most two thirds of the files that the system lets the process open',
    selfHosted: 1_000,
    cloud: UNLIMITED,
    reason: 'databases and bodies need files too; in the cloud the platform limits the requests of a process',
    above:
      'the connection that has been without a request for the longest time is closed, or the one whose response has stalled for the longest time; without one, 503 and `retry-after`',
  },
  requests: {
    unit: 'count',
    limits: 'the requests at once',
    selfHosted: 1_000,
    cloud: UNLIMITED,
    reason: 'a connection of HTTP/2 carries many; in the cloud the platform limits them',
    above: 'the response that has stalled for the longest time is aborted; without one, 503 and `retry-after`',
  },
  requestsPerConnection: {
    unit: 'count',
    limits: 'the requests at once of one connection',
    ...both(fixedConnectionLimits.requestsPerConnection),
    reason: 'one client must not use up all',
    above: 'over HTTP/1, the connection is closed; over HTTP/2, the stream is refused',
  },
  stallMs: {
    unit: 'duration',
    limits: 'the time for which a connection takes nothing more of a response',
    ...both(fixedConnectionLimits.stallMs),
    reason: 'a client that does not read keeps its connection open',
    above: 'the connection is closed; over HTTP/2, the stream is reset',
  },
  stallGraceMs: {
    unit: 'duration',
    limits: 'the time for which it does so before another connection or request may take its place',
    ...both(fixedConnectionLimits.stallGraceMs),
    reason: 'clients that do not read must not keep others out; a network may pause',
    above: 'see the rows of connections and requests at once',
  },
  bodyGraceMs: {
    unit: 'duration',
    limits:
      'the time in which a body may arrive, and a finished response be received, at any rate; only waiting for the client counts',
    ...both(fixedConnectionLimits.bodyGraceMs),
    reason: 'a network may pause',
    above: 'see the next row',
  },
  bodyBytesPerSecond: {
    unit: 'bytes',
    limits: 'the bytes per second of a body or response after that time, on average, at least',
    ...both(fixedConnectionLimits.bodyBytesPerSecond),
    reason: 'a body that never ends keeps its connection open',
    above: '408 below it; a response is aborted',
  },
  lingerMs: {
    unit: 'duration',
    limits: 'the time for the rest of a body after the response, of callers with a valid token',
    ...both(fixedConnectionLimits.lingerMs),
    reason: 'clients that send everything before they read would find the connection reset, and no response',
    above: 'the connection is closed',
  },
  strangerLingerMs: {
    unit: 'duration',
    limits: 'the same of all others',
    ...both(fixedConnectionLimits.strangerLingerMs),
    reason: 'meanwhile a function with one request at a time serves nobody else',
    above: 'the connection is closed',
  },
} as const satisfies Record<string, LimitDefinition>;
