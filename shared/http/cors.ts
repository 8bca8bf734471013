import type { MiddlewareHandler } from 'hono';
import { cors as honoCors } from 'hono/cors';
import type { HttpEnv } from './exchange.ts';

/** The response headers that a page may read: gRPC's status, when to retry, and those that help to find a failed call in the log. */
const exposeHeaders = [
  'grpc-status',
  'grpc-message',
  'grpc-status-details-bin',
  'retry-after',
  'www-authenticate',
  'x-request-id',
];
const preflightMaxAgeSeconds = 7200;

/**
 * Allows pages of the given origins to call this service from a browser, with any request headers.
 * Tokens travel in a header, so credentials such as cookies are not allowed. Other origins get no CORS headers.
 */
export function cors(origins: readonly string[]): MiddlewareHandler<HttpEnv> {
  const allow = honoCors({
    origin: [...origins],
    allowMethods: ['GET', 'POST', 'DELETE'],
    exposeHeaders,
    maxAge: preflightMaxAgeSeconds,
  });
  return (context, next) => {
    const origin = context.req.header('origin');
    const isAllowed = origin !== undefined && origins.includes(origin);
    const isPreflight = context.req.header('access-control-request-method') !== undefined;
    return isAllowed && (context.req.method !== 'OPTIONS' || isPreflight) ? allow(context, next) : next();
  };
}
