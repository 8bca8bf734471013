import type { MiddlewareHandler } from 'hono';
import { cors as honoCors } from 'hono/cors';
import type { HttpEnv } from './route.ts';

/** What a page may read of an answer beside its body: gRPC's status, and what helps to find a failed call in the log. */
const exposeHeaders = ['grpc-status', 'grpc-message', 'grpc-status-details-bin', 'www-authenticate', 'x-request-id'];
const preflightSeconds = 7200;

/**
 * Lets pages of some origins call this service from a browser, with whatever headers their clients send; tokens travel in one
 * of them, so no cookies are allowed. Other origins get no header for it, and no answer to a preflight.
 */
export function cors(origins: readonly string[]): MiddlewareHandler<HttpEnv> {
  const allow = honoCors({
    origin: [...origins],
    allowMethods: ['GET', 'POST', 'DELETE'],
    exposeHeaders,
    maxAge: preflightSeconds,
  });
  return (context, next) => {
    const origin = context.req.header('origin');
    const isAllowed = origin !== undefined && origins.includes(origin);
    const isPreflight = context.req.header('access-control-request-method') !== undefined;
    return isAllowed && (context.req.method !== 'OPTIONS' || isPreflight) ? allow(context, next) : next();
  };
}
