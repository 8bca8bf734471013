import { defineError } from './identityError.ts';

// Errors of the transport: routes, headers, content codings and connections.

export const routeNotFound = defineError('NOT_FOUND', 'ROUTE_NOT_FOUND', {
  text: 'Not Found',
  isZitadels: true,
  when: 'No route has this path.',
  remedy: 'Compare the path with those in `/openapi.json`.',
});

export const methodNotAllowed = defineError('UNIMPLEMENTED', 'METHOD_NOT_ALLOWED', {
  httpStatus: 405,
  text: 'Method Not Allowed',
  isZitadels: true,
  when: 'The route exists, but not with this method.',
  remedy: 'Use a method that the `Allow` header names.',
});

// gRPC's code for an unknown path; JSON clients get 404 instead.
export const rpcNotFound = defineError('UNIMPLEMENTED', 'RPC_NOT_FOUND', {
  text: 'unknown service or method',
  when: 'A gRPC client called an RPC that does not exist here.',
  remedy:
    'Use `UserService/RemoveOTPEmail` or `UserService/ListAuthenticationMethodTypes`, v2 or v2beta; exports and imports are JSON only.',
});

export const rpcMalformed = defineError('INVALID_ARGUMENT', 'RPC_MALFORMED', {
  text: (problem: string) => `malformed request message: ${problem}`,
  example: ['parse binary: premature EOF'],
  when: 'The body of an RPC is not a message in the encoding that its headers name.',
  remedy: "Call the RPC with a client that is generated from ZITADEL's definitions.",
});

export const pathMalformed = defineError('INVALID_ARGUMENT', 'PATH_MALFORMED', {
  text: 'invalid path: percent-encode it as UTF-8',
  when: 'The path has a `%` that begins no UTF-8 escape.',
});

export const pathWithDots = defineError('INVALID_ARGUMENT', 'PATH_WITH_DOTS', {
  text: 'invalid path: send it without the parts "." and ".."',
  when: 'A part of the path is `.` or `..`, percent-encoded or not: a proxy that knows the path by its beginning would let others pass.',
  remedy: 'Resolve the path before you send it.',
});

export const mediaTypeUnsupported = defineError('INVALID_ARGUMENT', 'MEDIA_TYPE_UNSUPPORTED', {
  httpStatus: 415,
  text: (readable: readonly string[]) => `unsupported Content-Type: send one of ${readable.join(', ')}`,
  example: [['application/json', 'application/proto', 'application/grpc']],
  when: 'A call of `UserService` has a content type that the RPC cannot read.',
});

export const encodingUnsupported = defineError('INVALID_ARGUMENT', 'ENCODING_UNSUPPORTED', {
  httpStatus: 415,
  text: (known: readonly string[]) =>
    `unsupported Content-Encoding: use one of ${known.join(', ')}, or omit the header`,
  example: [['br', 'gzip', 'x-gzip']],
  when: "The body's coding is unknown, or there are several.",
  remedy: 'Compress the body once, with gzip or brotli, or not at all.',
});

export const bodyCorrupted = defineError('INVALID_ARGUMENT', 'BODY_CORRUPTED', {
  text: (coding: string, _cause: unknown) =>
    `the request body is not valid ${coding}: compress it again, or omit Content-Encoding`,
  example: ['gzip', undefined],
  carries: (_coding, cause) => ({ cause }),
  when: 'The body does not have the coding that `Content-Encoding` names, or ends early.',
});

export const httpMalformed = defineError('INVALID_ARGUMENT', 'HTTP_MALFORMED', {
  text: 'malformed HTTP request',
  when: 'The received bytes are not HTTP, the request target is not a path, or a proxy could take the request for another one: it has two `Host` fields, or chunks in HTTP/1.0.',
  remedy: 'Check the client, and any proxy between it and the service.',
});

export const hostNotLocal = defineError('PERMISSION_DENIED', 'HOST_NOT_LOCAL', {
  text: 'the metrics are served for 127.0.0.1 and localhost only: send one of them as Host',
  when: 'A request to `METRICS_PORT` has another `Host`, as one of a page in a browser that calls this machine by a name of its own.',
  remedy: 'Scrape `http://127.0.0.1:PORT/metrics`; as a proxy, send that host.',
});

export const httpHeadersTooLarge = defineError('RESOURCE_EXHAUSTED', 'HTTP_HEADERS_TOO_LARGE', {
  httpStatus: 431,
  text: 'request headers too large: send fewer or shorter ones',
  when: 'The request headers exceed the size that the server reads.',
});

export const httpHeadersTimeout = defineError('DEADLINE_EXCEEDED', 'HTTP_HEADERS_TIMEOUT', {
  httpStatus: 408,
  text: 'timeout while waiting for the request headers: retry the request',
  when: 'The request headers did not arrive in time.',
  remedy: 'Retry the request; if it fails again, check the network and any proxy.',
});

export const httpExpectationFailed = defineError('INVALID_ARGUMENT', 'HTTP_EXPECTATION_FAILED', {
  httpStatus: 417,
  text: 'unsupported Expect header: send 100-continue, or omit it',
  when: 'The `Expect` header has another value than `100-continue`.',
});

export const tooManyRequests = defineError('UNAVAILABLE', 'TOO_MANY_REQUESTS', {
  retryAfterSeconds: 1,
  text: 'too many requests at once: retry the request',
  when: 'The server handles as many requests as it may have connections.',
  remedy:
    'Retry the request later; as an operator, set `MAX_CONNECTIONS`, or look for clients that send many requests at once.',
});

export const tooManyBytes = defineError('RESOURCE_EXHAUSTED', 'TOO_MANY_BYTES', {
  retryAfterSeconds: 5,
  text: 'the bodies of running requests take all the space: retry the request later',
  when: 'All bodies together would take more than `MAX_BUFFERED_BYTES`, or more than half of the free space for temporary files. Nothing is written.',
  remedy:
    'Retry the request after the seconds in `retry-after`; as an operator, set `MAX_BUFFERED_BYTES`, or give the directory of `TMPDIR` more space.',
});

export const tooManyCalls = defineError('RESOURCE_EXHAUSTED', 'TOO_MANY_CALLS', {
  retryAfterSeconds: 5,
  text: (kind: string, limit: number) => `${limit} ${kind} are running, the most at once: retry the request later`,
  example: ['imports', 2],
  when: 'A self-hosted instance runs as many imports, dry runs included, or exports as it allows. Nothing is written.',
  remedy: 'Retry the request after the seconds in `retry-after`; as an operator, set `MAX_IMPORTS` or `MAX_EXPORTS`.',
});

export const shuttingDown = defineError('UNAVAILABLE', 'SHUTTING_DOWN', {
  text: 'the server is shutting down: retry the request',
  when: 'The process received SIGTERM and accepts no further requests.',
  remedy: 'Retry the request; another process takes it.',
});

export const cancelled = defineError('CANCELLED', 'CANCELLED', {
  text: 'context canceled',
  isZitadels: true,
  when: 'The client disconnected before the response. Only logs show it.',
  remedy: 'None needed. An interrupted import resumes when the same request is sent again.',
});
