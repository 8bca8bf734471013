// Gives each request an id and an origin, and logs it.

import type { Context, MiddlewareHandler } from 'hono';
import type { Origin } from '../audit/auditEvent.ts';
import { defined } from '../defined.ts';
import { log, REQUEST_FINISHED, requestFields } from '../log.ts';
import { noteRequest } from '../turns.ts';
import { clientAddress, closed, getOutgoing, type HttpEnv, traceFrom } from './nodeResponse.ts';
import { requestIdFrom, responseHeaders } from './responses.ts';

const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/** Returns the method for log lines and metrics. An HTTP/2 client may send any text as its method. */
const knownMethod = (method: string) => (METHODS.includes(method) ? method : 'other');

/** A finished request in the log and in metrics. It never contains a query, body, header, or path with an id. */
export interface RequestLine {
  /** A known method, or `other`. */
  readonly method: string;
  /** The route's pattern, such as `/v2/users/:userId/otp_email`; undefined if no route matched. */
  readonly route: string | undefined;
  readonly status: number;
  /** The error code of an RPC; undefined if there was no error. The HTTP status of an RPC may not show the error. */
  readonly rpcCode: string | undefined;
  readonly milliseconds: number;
}

/** Observes every request, for example for metrics. */
export interface RequestObserver {
  started(): void;
  finished(line: RequestLine): void;
}

/**
 * Gives each request an id and an origin, and its response the common headers. Logs a line after the response was sent
 * or the client disconnected. Does not log calls from this process.
 */
export function identify(trustedProxies: number, observer: RequestObserver | undefined): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const start = performance.now();
    const requestId = requestIdFrom((name) => context.req.header(name));
    context.set('requestId', requestId);
    context.set('origin', requestOrigin(context, requestId, trustedProxies));
    observer?.started();
    noteRequest();
    const outgoing = getOutgoing(context);
    // A client may disconnect before there is a response, so listen before the handler returns.
    const sent = outgoing && closed(outgoing);
    await next();
    // `context.header` would copy the response for each header.
    const { headers } = context.res;
    for (const [name, value] of Object.entries(responseHeaders(requestId))) headers.set(name, value);
    if (context.env?.local === undefined) reportWhenSent(context, start, sent, observer);
  };
}

// Log the request at the last byte of its response instead of at its headers, because a response may stream for
// minutes.
function reportWhenSent(
  context: Context<HttpEnv>,
  start: number,
  sent: Promise<void> | undefined,
  observer: RequestObserver | undefined,
): void {
  const { status } = context.res;
  const finished = () => {
    const line: RequestLine = {
      method: knownMethod(context.req.method),
      route: context.get('route'),
      status: getOutgoing(context)?.writableFinished === false ? 499 : status,
      rpcCode: context.get('rpcCode'),
      milliseconds: Math.round(performance.now() - start),
    };
    const fields = { ...line, ...requestFields(context.get('requestId'), context.get('origin').trace) };
    log[line.status >= 500 ? 'warn' : 'info'](fields, REQUEST_FINISHED);
    observer?.finished(line);
  };
  if (sent === undefined) finished();
  else void sent.then(finished);
}

/** Returns the origin of a request for the audit trail. */
function requestOrigin(context: Context<HttpEnv>, requestId: string, trustedProxies: number): Origin {
  const socketAddress = context.env?.incoming?.socket.remoteAddress;
  const remote = clientAddress(socketAddress, context.req.header('x-forwarded-for'), trustedProxies);
  const trace = traceFrom((name) => context.req.header(name));
  return {
    requestId,
    ...defined({ remote, trace }),
  };
}
