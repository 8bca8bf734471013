import { isIP } from 'node:net';
import type { Context } from 'hono';
import type { Origin } from '../audit/auditEvent.ts';
import type { HttpEnv } from './exchange.ts';

/**
 * Returns the origin of a request for the audit trail.
 * @param trustedProxies the number of addresses that trusted proxies append to `X-Forwarded-For`; clients write the others
 */
export function requestOrigin(context: Context<HttpEnv>, requestId: string, trustedProxies: number): Origin {
  const remote = forwardedAddress(context.req.header('x-forwarded-for'), trustedProxies) ?? socketAddress(context);
  const trace = traceFrom((name) => context.req.header(name));
  return {
    requestId,
    ...(remote === undefined ? {} : { remote }),
    ...(trace === undefined ? {} : { trace }),
  };
}

function forwardedAddress(header: string | undefined, trustedProxies: number): string | undefined {
  if (header === undefined || trustedProxies === 0) return undefined;
  const address = header.split(',').at(-trustedProxies)?.trim() ?? '';
  return isIP(address) === 0 ? undefined : address;
}

const IPV4_PREFIX = '::ffff:';

function socketAddress({ env }: Context<HttpEnv>): string | undefined {
  const address = env?.incoming?.socket.remoteAddress;
  return address?.startsWith(IPV4_PREFIX) === true ? address.slice(IPV4_PREFIX.length) : address;
}

/** Returns the trace of W3C's header or Google's own. Callers can choose it, like the request id. */
export function traceFrom(readHeader: (name: string) => string | undefined): string | undefined {
  const [traceparent = '', cloudTrace = ''] = [readHeader('traceparent'), readHeader('x-cloud-trace-context')];
  const [, id] = /^[\da-f]{2}-([\da-f]{32})-/.exec(traceparent) ?? /^([\da-f]{32})(?:$|[/;])/.exec(cloudTrace) ?? [];
  return id;
}
