import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { methodNotAllowed, pathMalformed, routeNotFound, rpcNotFound } from '../errors/httpErrors.ts';
import { log } from '../log.ts';
import { answerHeaders } from './answerHeaders.ts';
import { cors } from './cors.ts';
import { errorResponse } from './errorResponse.ts';
import { isGrpc } from './grpc.ts';
import { requestIdFrom } from './requestId.ts';
import { type HttpEnv, outgoingOf, type Route } from './route.ts';

/** What an application is made of. */
export interface AppOptions {
  readonly routes: readonly Route[];
  /** Origins whose pages may call it from a browser; default none. */
  readonly corsOrigins?: readonly string[];
}

/**
 * Makes the Hono application of some routes: our error bodies, 404 and 405 as in contract 6.6,
 * the headers of every answer, and one log line per request.
 */
export function createApp({ routes, corsOrigins = [] }: AppOptions): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.onError((error, context) => refuse(context, error));
  app.notFound((context) => refuse(context, isGrpc(contentTypeOf(context)) ? rpcNotFound() : routeNotFound()));
  app.use(identify, cors(corsOrigins), refuseMalformedPath);
  for (const { method, path, handler } of routes) {
    app.on(method, path, (context) => {
      context.set('route', path);
      // Hono answers HEAD by the GET route.
      return context.req.method === method ? handler(context) : refuseMethod(context, methodsOf(routes, path));
    });
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    app.all(path, (context) => {
      context.set('route', path);
      return refuseMethod(context, methodsOf(routes, path));
    });
  }
  return app;
}

const identify: MiddlewareHandler<HttpEnv> = async (context, next) => {
  const start = performance.now();
  const requestId = requestIdFrom((name) => context.req.header(name));
  context.set('requestId', requestId);
  await next();
  for (const [name, value] of Object.entries(answerHeaders(requestId))) context.header(name, value);
  logWhenAnswered(context, start);
};

// An answer may stream for minutes: it is finished when its last byte is, not when its headers are known.
function logWhenAnswered(context: Context<HttpEnv>, start: number): void {
  const { status } = context.res;
  const outgoing = outgoingOf(context);
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

function methodsOf(routes: readonly Route[], path: string): string {
  const methods = routes.filter((route) => route.path === path).map((route) => route.method);
  return methods.join(', ');
}

function contentTypeOf(context: Context<HttpEnv>): string {
  return context.req.header('content-type') ?? '';
}

function refuse(context: Context<HttpEnv>, error: unknown): Response {
  return errorResponse(error, context.get('requestId'), contentTypeOf(context));
}

function refuseMethod(context: Context<HttpEnv>, allowed: string): Response {
  const response = refuse(context, methodNotAllowed());
  response.headers.set('allow', allowed);
  return response;
}
