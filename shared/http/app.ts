import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { cors as honoCors } from 'hono/cors';
import { methodNotAllowed, pathMalformed, routeNotFound, rpcNotFound } from '../errors/httpErrors.ts';
import type { Code } from '../errors/identityError.ts';
import { log } from '../log.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import { errorResponse, isGrpc, requestIdFrom, responseHeaders } from './errorResponse.ts';
import type { Incoming, Outgoing } from './exchange.ts';

/** What Hono's Context carries here: the socket's objects where there is a socket, and what the shell knows of the request. */
export interface HttpEnv {
  Bindings: { incoming?: Incoming; outgoing?: Outgoing };
  Variables: { requestId: string; route?: string; rpcCode?: Code };
}

/** What the answer goes out by; undefined where there is no socket. Hono passes on what `fetch` was given, which then is nothing. */
export function getOutgoing(context: { env?: HttpEnv['Bindings'] }): Outgoing | undefined {
  return context.env?.outgoing;
}

/** One route of a function, as data, so that the set of routes can be listed. */
export interface Route extends Endpoint {
  readonly handler: (context: Context<HttpEnv>) => Response | Promise<Response>;
}

/**
 * Adds `GET /openapi.json`, which describes the routes to anyone (no token).
 * @param described loads what is described instead, where other functions serve the same base URL
 */
export function withOpenApi(
  routes: readonly Route[],
  described: () => Promise<readonly Endpoint[]> = async () => routes,
): readonly Route[] {
  let text: Promise<string> | undefined;
  return [
    ...routes,
    {
      method: 'GET',
      path: '/openapi.json',
      handler: async () => {
        text ??= describe(described);
        return new Response(await text, { headers: { 'content-type': 'application/json' } });
      },
    },
  ];
}

// Loaded lazily: most processes never describe themselves.
async function describe(endpoints: () => Promise<readonly Endpoint[]>): Promise<string> {
  const { openApiDocument } = await import('../openapi/openApiDocument.ts');
  return JSON.stringify(openApiDocument(await endpoints()));
}

/** What an application is made of. */
export interface AppOptions {
  readonly routes: readonly Route[];
  /** Origins whose pages may call it from a browser; default none. */
  readonly corsOrigins?: readonly string[];
}

/**
 * Makes the Hono application of some routes: our error bodies, 404 and 405 as in zitadel 6.6,
 * the headers of every answer, and one log line per request.
 */
export function createApp({ routes, corsOrigins = [] }: AppOptions): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.onError((error, context) => refuse(context, error));
  app.notFound((context) => refuse(context, isGrpc(getContentType(context)) ? rpcNotFound() : routeNotFound()));
  app.use(identify, cors(corsOrigins), refuseMalformedPath);
  for (const { method, path, handler } of routes) {
    app.on(method, path, (context) => {
      context.set('route', path);
      // Hono answers HEAD by the GET route.
      return context.req.method === method ? handler(context) : refuseMethod(context, allowedMethods(routes, path));
    });
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    app.all(path, (context) => {
      context.set('route', path);
      return refuseMethod(context, allowedMethods(routes, path));
    });
  }
  return app;
}

const identify: MiddlewareHandler<HttpEnv> = async (context, next) => {
  const start = performance.now();
  const requestId = requestIdFrom((name) => context.req.header(name));
  context.set('requestId', requestId);
  await next();
  for (const [name, value] of Object.entries(responseHeaders(requestId))) context.header(name, value);
  logWhenSent(context, start);
};

// An answer may stream for minutes: it is finished when its last byte is, not when its headers are known.
function logWhenSent(context: Context<HttpEnv>, start: number): void {
  const { status } = context.res;
  const outgoing = getOutgoing(context);
  const finished = () =>
    log.requestFinished({
      method: context.req.method,
      route: context.get('route'),
      status: outgoing === undefined || outgoing.writableFinished ? status : 499,
      rpcCode: context.get('rpcCode'),
      milliseconds: Math.round(performance.now() - start),
      requestId: context.get('requestId'),
    });
  if (outgoing === undefined) finished();
  else outgoing.once('close', finished);
}

// Hono takes a wrong escape for plain text, so that it would reach a handler as another id than was meant.
const refuseMalformedPath: MiddlewareHandler<HttpEnv> = async (context, next) => {
  const [, path = ''] = /^[^:]+:\/\/[^/?#]*([^?#]*)/.exec(context.req.url) ?? [];
  if (!isPercentEncodedUtf8(path)) throw pathMalformed();
  await next();
};

function isPercentEncodedUtf8(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

function allowedMethods(routes: readonly Route[], path: string): string {
  const methods = routes.filter((route) => route.path === path).map((route) => route.method);
  return methods.join(', ');
}

function getContentType(context: Context<HttpEnv>): string {
  return context.req.header('content-type') ?? '';
}

function refuse(context: Context<HttpEnv>, error: unknown): Response {
  return errorResponse(error, context.get('requestId'), getContentType(context));
}

function refuseMethod(context: Context<HttpEnv>, allowed: string): Response {
  const response = refuse(context, methodNotAllowed());
  response.headers.set('allow', allowed);
  return response;
}

/** What a page may read of an answer beside its body: gRPC's status, and what helps to find a failed call in the log. */
const exposeHeaders = ['grpc-status', 'grpc-message', 'grpc-status-details-bin', 'www-authenticate', 'x-request-id'];
const preflightSeconds = 7200;

/**
 * Lets pages of some origins call this service from a browser, with whatever headers their clients send; tokens travel in one
 * of them, so no cookies are allowed. Other origins get no header for it, and no answer to a preflight.
 */
function cors(origins: readonly string[]): MiddlewareHandler<HttpEnv> {
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
