import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { methodNotAllowed, pathMalformed, routeNotFound } from '../errors/errors.ts';
import { log } from '../log.ts';
import { answerHeaders } from './answerHeaders.ts';
import { errorResponse } from './errorResponse.ts';
import { requestIdFrom } from './requestId.ts';
import type { HttpEnv, Route } from './route.ts';

/**
 * Makes the Hono application of some routes: our error bodies, 404 and 405 as in contract 6.6,
 * the headers of every answer, and one log line per request.
 */
export function createApp({ routes }: { routes: readonly Route[] }): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.onError((error, context) => errorResponse(error, context.get('requestId')));
  app.notFound((context) => errorResponse(routeNotFound(), context.get('requestId')));
  app.use(identify, refuseMalformedPath);
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
      milliseconds: Math.round(performance.now() - start),
      requestId: context.get('requestId'),
    });
  if (outgoing === undefined) finished();
  else outgoing.once('close', finished);
}

// Hono passes on what `fetch` was given, and a caller without a socket gives nothing.
function outgoingOf(context: { env?: Partial<HttpEnv['Bindings']> }): HttpEnv['Bindings']['outgoing'] {
  return context.env?.outgoing;
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

function refuseMethod(context: Context<HttpEnv>, allowed: string): Response {
  const response = errorResponse(methodNotAllowed(), context.get('requestId'));
  response.headers.set('allow', allowed);
  return response;
}
