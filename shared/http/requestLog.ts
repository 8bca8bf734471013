import type { Context, MiddlewareHandler } from 'hono';
import { log, type RequestLine } from '../log.ts';
import { noteRequest } from '../turns.ts';
import { requestIdFrom, responseHeaders } from './errorResponse.ts';
import { getOutgoing, type HttpEnv, type Outgoing } from './exchange.ts';
import { requestOrigin } from './origin.ts';

/** Is told of every request, such as for metrics. */
export interface RequestObserver {
  started(): void;
  finished(line: RequestLine): void;
}

/**
 * Gives each request an id and an origin, its response the headers common to all, and the log one line when the response
 * is sent or its client has left.
 */
export function identify(trustedProxies: number, observer: RequestObserver | undefined): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const start = performance.now();
    const requestId = requestIdFrom((name) => context.req.header(name));
    context.set('requestId', requestId);
    context.set('origin', requestOrigin(context, requestId, trustedProxies));
    observer?.started();
    noteRequest();
    const sent = untilClosed(getOutgoing(context));
    await next();
    // Hono's own method would copy the response for each header.
    const { headers } = context.res;
    for (const [name, value] of Object.entries(responseHeaders(requestId))) headers.set(name, value);
    reportWhenSent(context, start, sent, observer);
  };
}

// A client may leave before there is a response: then the event is past by the time the handler returns.
function untilClosed(outgoing: Outgoing | undefined): Promise<void> | undefined {
  if (outgoing === undefined) return undefined;
  const { promise, resolve } = Promise.withResolvers<void>();
  outgoing.once('close', () => resolve());
  return promise;
}

// A response may stream for minutes, so the request finishes with the last byte, not with the headers.
function reportWhenSent(
  context: Context<HttpEnv>,
  start: number,
  sent: Promise<void> | undefined,
  observer: RequestObserver | undefined,
): void {
  const { status } = context.res;
  const finished = () => {
    const line: RequestLine = {
      method: context.req.method,
      route: context.get('route'),
      status: getOutgoing(context)?.writableFinished === false ? 499 : status,
      rpcCode: context.get('rpcCode'),
      milliseconds: Math.round(performance.now() - start),
      requestId: context.get('requestId'),
      trace: context.get('origin').trace,
    };
    log.requestFinished(line);
    observer?.finished(line);
  };
  if (sent === undefined) finished();
  else void sent.then(finished);
}
