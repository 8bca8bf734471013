import { defineError, RETRY, RETRY_LATER } from './identityError.ts';

export const routeNotFound = defineError('NOT_FOUND', 'ROUTE_NOT_FOUND', {
  text: 'Not Found',
  isZitadels: true,
});

export const methodNotAllowed = defineError('UNIMPLEMENTED', 'METHOD_NOT_ALLOWED', {
  httpStatus: 405,
  text: 'Method Not Allowed',
  isZitadels: true,
});

// gRPC clients expect the code UNIMPLEMENTED for an unknown path. JSON clients receive 404.
export const rpcNotFound = defineError('UNIMPLEMENTED', 'RPC_NOT_FOUND', {
  text: 'unknown service or method',
});

export const rpcMalformed = defineError('INVALID_ARGUMENT', 'RPC_MALFORMED', {
  text: 'malformed request message: {problem}',
});

export const pathMalformed = defineError('INVALID_ARGUMENT', 'PATH_MALFORMED', {
  text: 'invalid path: percent-encode the path as UTF-8',
});

export const pathWithDots = defineError('INVALID_ARGUMENT', 'PATH_WITH_DOTS', {
  text: 'invalid path: send the path without the parts "." and ".."',
});

// ZITADEL redirects a request whose path has an empty segment. A redirected POST loses its body, so this service
// rejects the path.
export const pathWithEmptyPart = defineError('NOT_FOUND', 'PATH_WITH_EMPTY_PART', {
  text: 'unknown path, because the path has an empty part: remove repeated slashes, or add the missing id',
});

export const mediaTypeUnsupported = defineError('INVALID_ARGUMENT', 'MEDIA_TYPE_UNSUPPORTED', {
  httpStatus: 415,
  text: 'unsupported Content-Type: send one of {readable}',
});

export const encodingUnsupported = defineError('INVALID_ARGUMENT', 'ENCODING_UNSUPPORTED', {
  httpStatus: 415,
  text: 'unsupported Content-Encoding: use one of {known}, or omit the header',
});

export const bodyCorrupted = defineError('INVALID_ARGUMENT', 'BODY_CORRUPTED', {
  text: 'the request body is not valid {coding}: compress the body again, or omit Content-Encoding',
});

export const httpMalformed = defineError('INVALID_ARGUMENT', 'HTTP_MALFORMED', {
  text: 'malformed HTTP request',
});

export const httpProxyProtocol = defineError('INVALID_ARGUMENT', 'HTTP_PROXY_PROTOCOL', {
  text: 'the connection begins with the PROXY protocol: switch this protocol off in the proxy, and let the proxy send the address of the client in X-Forwarded-For',
});

export const httpTls = defineError('INVALID_ARGUMENT', 'HTTP_TLS', {
  text: 'the connection begins with TLS, and this port serves only http: call the proxy in front of this port, or call the port with http://',
});

export const hostNotLocal = defineError('PERMISSION_DENIED', 'HOST_NOT_LOCAL', {
  text: 'only requests whose Host header is 127.0.0.1 or localhost receive the metrics: correct the header',
});

export const httpHeadersTooLarge = defineError('RESOURCE_EXHAUSTED', 'HTTP_HEADERS_TOO_LARGE', {
  httpStatus: 431,
  text: 'request headers too large: send fewer or shorter headers',
});

export const httpHeadersTimeout = defineError('DEADLINE_EXCEEDED', 'HTTP_HEADERS_TIMEOUT', {
  httpStatus: 408,
  text: 'timeout while waiting for the request headers',
  remedy: RETRY,
});

export const httpExpectationFailed = defineError('INVALID_ARGUMENT', 'HTTP_EXPECTATION_FAILED', {
  httpStatus: 417,
  text: 'unsupported Expect header: send 100-continue, or omit it',
});

export const tooManyRequests = defineError('UNAVAILABLE', 'TOO_MANY_REQUESTS', {
  retryAfterSeconds: 1,
  text: 'too many requests at once',
  remedy: RETRY,
});

export const tooManyBytes = defineError('RESOURCE_EXHAUSTED', 'TOO_MANY_BYTES', {
  retryAfterSeconds: 5,
  text: 'the bodies of running requests use all the space for bodies',
  remedy: RETRY_LATER,
});

export const temporarySpaceShort = defineError('UNAVAILABLE', 'TEMPORARY_SPACE_SHORT', {
  retryAfterSeconds: 5,
  text: 'the disk for temporary files has too little free space for the bodies of running requests',
  remedy: {
    http: 'free space on the disk, or retry the request later',
    command: 'free space on the disk, then repeat the command',
  },
});

export const tooManyCalls = defineError('RESOURCE_EXHAUSTED', 'TOO_MANY_CALLS', {
  retryAfterSeconds: 5,
  text: '{limit} {kind} are running, which is the limit',
  remedy: RETRY_LATER,
});

export const shuttingDown = defineError('UNAVAILABLE', 'SHUTTING_DOWN', {
  text: 'the server is shutting down',
  remedy: RETRY,
});

export const cancelled = defineError('CANCELLED', 'CANCELLED', {
  text: 'context canceled',
  isZitadels: true,
});
