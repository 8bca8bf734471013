import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { cors as honoCors } from 'hono/cors';
import {
  httpMalformed,
  methodNotAllowed,
  pathMalformed,
  pathWithDots,
  pathWithEmptyPart,
  routeNotFound,
  rpcNotFound,
} from '../errors/httpErrors.ts';
import type { Limits } from '../limits.ts';
import type { Endpoint } from '../openapi/endpoint.ts';
import { BodyBudget } from './bodyStorage.ts';
import { type HttpEnv, hasDotSegment, isPercentEncodedUtf8 } from './nodeResponse.ts';
import { identify, type RequestObserver } from './requestLog.ts';
import { errorResponse, isGrpc } from './responses.ts';

export interface Route extends Endpoint {
  /**
   * The name of a required query parameter. If a request lacks this parameter, the application responds 405, as ZITADEL
   * does.
   */
  readonly parameter?: string;
  readonly handler: (context: Context<HttpEnv>) => Response | Promise<Response>;
  /**
   * True if the application also accepts the path with repeated slashes or with a final slash. Load balancers and
   * monitors send such paths.
   */
  readonly isLenient?: true;
}

export interface AppOptions {
  readonly routes: readonly Route[];
  readonly corsOrigins?: readonly string[];
  /** The number of addresses in `X-Forwarded-For` that trusted proxies have appended; if absent, 0. */
  readonly trustedProxies?: number;
  readonly observer?: RequestObserver;
  /**
   * `bufferedBytes` is the maximum total size of the request bodies that the application stores at the same time. If
   * absent, it stores any number of bytes.
   */
  readonly limits?: Pick<Limits, 'bufferedBytes'>;
}

/**
 * Creates an application. It responds to HEAD as to GET, but without the body. It responds with 404 and 405 as ZITADEL
 * does (zitadel 6.6). Its errors have the error body of the interface, and all responses have the common headers. It
 * writes one log line for each request.
 */
export function createApp(options: AppOptions): Hono<HttpEnv> {
  const { routes, corsOrigins = [], trustedProxies = 0, observer, limits } = options;
  const app = new Hono<HttpEnv>();
  app.onError((error, context) => renderError(context, error));
  const lenient = new Map<string, Route['handler']>();
  app.notFound((context) => {
    const { path } = context.req;
    const handler = lenient.get(path.replaceAll(/\/+/g, '/').replace(/(.)\/$/, '$1'));
    if (handler !== undefined) return handler(context);
    if (isGrpc(getContentType(context))) return renderError(context, rpcNotFound());
    return renderError(context, path.includes('//') ? pathWithEmptyPart() : routeNotFound());
  });
  const bodies = new BodyBudget(limits?.bufferedBytes);
  app.use((context, next) => {
    context.set('bodies', bodies);
    return next();
  });
  app.use(identify(trustedProxies, observer), cors(corsOrigins), rejectMalformedUrl);
  for (const [path, methods] of Map.groupBy(routes, (route) => route.path)) {
    const byMethod = new Map<string, Route>(methods.map((route) => [route.method, route]));
    const get = byMethod.get('GET');
    // Hono removes the body from the response to HEAD.
    if (get !== undefined) byMethod.set('HEAD', get);
    const handle: Route['handler'] = (context) => {
      context.set('route', path);
      const route = byMethod.get(context.req.method);
      return route === undefined || lacksParameter(route, context)
        ? rejectMethod(context, [...byMethod.keys()])
        : route.handler(context);
    };
    app.all(path, handle);
    if (methods.some(({ isLenient }) => isLenient === true)) lenient.set(path, handle);
  }
  return app;
}

function lacksParameter({ parameter }: Route, { req }: Context<HttpEnv>): boolean {
  return parameter !== undefined && req.query(parameter) === undefined;
}

// Hono treats an invalid escape in a path as plain text, so the handler would receive a wrong id.
const rejectMalformedUrl: MiddlewareHandler<HttpEnv> = (context, next) => {
  const [, path = ''] = /^[^:]+:\/\/[^/?#]*([^?#]*)/.exec(context.req.url) ?? [];
  if (!isPercentEncodedUtf8(path)) throw pathMalformed();
  // In `req.url`, dot segments are already resolved, so check the path that the client sent instead.
  if (hasDotSegment(context.env?.incoming?.url ?? '')) throw pathWithDots();
  // The server checks only the characters of the Host header. So reject an invalid address such as 1.2.3.256, which
  // would cause an error only later, when the body is read.
  if (!URL.canParse(context.req.url)) throw httpMalformed();
  return next();
};

function getContentType(context: Context<HttpEnv>): string {
  return context.req.header('content-type') ?? '';
}

function renderError(context: Context<HttpEnv>, error: unknown): Response {
  const { trace } = context.get('origin');
  const onUnexpected = context.env?.local?.onUnexpected;
  return errorResponse(error, context.get('requestId'), getContentType(context), trace, onUnexpected);
}

function rejectMethod(context: Context<HttpEnv>, methods: readonly string[]): Response {
  const response = renderError(context, methodNotAllowed());
  response.headers.set('allow', methods.filter((method) => method !== context.req.method).join(', '));
  return response;
}

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
 * Adds CORS headers to responses, so that pages of these origins can read the responses. Does not permit cookies,
 * because callers send their token in a header.
 */
function cors(origins: readonly string[]): MiddlewareHandler<HttpEnv> {
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
