import type { Context } from 'hono';
import type { Origin } from '../audit/auditEvent.ts';
import { clientAddress } from './client.ts';
import type { HttpEnv } from './exchange.ts';

/** Returns the origin of a request for the audit trail. */
export function requestOrigin(context: Context<HttpEnv>, requestId: string, trustedProxies: number): Origin {
  const socketAddress = context.env?.incoming?.socket.remoteAddress;
  const remote = clientAddress(socketAddress, context.req.header('x-forwarded-for'), trustedProxies);
  const trace = traceFrom((name) => context.req.header(name));
  return {
    requestId,
    ...(remote === undefined ? {} : { remote }),
    ...(trace === undefined ? {} : { trace }),
  };
}

/** Returns the trace of W3C's header or Google's own. Callers can choose it, like the request id. */
export function traceFrom(readHeader: (name: string) => string | undefined): string | undefined {
  const [traceparent = '', cloudTrace = ''] = [readHeader('traceparent'), readHeader('x-cloud-trace-context')];
  const [, id] = /^[\da-f]{2}-([\da-f]{32})-/.exec(traceparent) ?? /^([\da-f]{32})(?:$|[/;])/.exec(cloudTrace) ?? [];
  return id;
}
