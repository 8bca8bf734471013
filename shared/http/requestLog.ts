import type { Context, MiddlewareHandler } from 'hono';
import type { Origin } from '../audit/auditEvent.ts';
import { defined } from '../defined.ts';
import { log, REQUEST_FINISHED, requestFields } from '../log.ts';
import { noteRequest } from '../turns.ts';
import { clientAddress, closed, getOutgoing, type HttpEnv, traceFrom } from './nodeResponse.ts';
import { requestIdFrom, responseHeaders } from './responses.ts';

const METHODS: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];

/** Replaces an unknown method, because an HTTP/2 client may send any text as the method. */
const knownMethod = (method: string) => (METHODS.includes(method) ? method : 'other');

/**
 * The facts of a request that a log line contains. No field contains a query, a body, a header, or a path with an id.
 */
export interface RequestLine {
  readonly method: string;
  /** The pattern of the route, such as `/v2/users/:userId/otp_email`; undefined if the request matched no route. */
  readonly route: string | undefined;
  readonly status: number;
  /**
   * The code of an RPC's error; undefined if the RPC succeeded. The HTTP status does not show this error, because it
   * may be 200.
   */
  readonly rpcCode: string | undefined;
  readonly milliseconds: number;
}

export interface RequestObserver {
  started(): void;
  finished(line: RequestLine): void;
}

/**
 * Gives each request an id and an origin, and adds the common headers to the response. Writes a log line when the
 * response was sent, or when the client has disconnected. For a call from the same process, writes no log line.
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
    // Begin to listen before the handler runs, because the client may disconnect before there is a response.
    const sent = outgoing && closed(outgoing);
    await next();
    // Set the headers on the response, because `context.header` would copy the response each time.
    const { headers } = context.res;
    for (const [name, value] of Object.entries(responseHeaders(requestId))) headers.set(name, value);
    if (context.env?.local === undefined) reportWhenSent(context, start, sent, observer);
  };
}

// Writes the log line only after the last byte of the response, because a response may stream for minutes after its
// headers.
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

function requestOrigin(context: Context<HttpEnv>, requestId: string, trustedProxies: number): Origin {
  const socketAddress = context.env?.incoming?.socket.remoteAddress;
  const remote = clientAddress(socketAddress, context.req.header('x-forwarded-for'), trustedProxies);
  const trace = traceFrom((name) => context.req.header(name));
  return {
    requestId,
    ...defined({ remote, trace }),
  };
}
