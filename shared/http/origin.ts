import { isIP, isIPv4, SocketAddress } from 'node:net';
import type { Context } from 'hono';
import type { Origin } from '../audit/auditEvent.ts';
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

/**
 * Returns the address of a request's client.
 * @param socketAddress the address at the other end of the connection
 * @param forwarded the header `X-Forwarded-For`
 * @param trustedProxies the number of addresses that trusted proxies append to it; clients write the others
 */
export function clientAddress(
  socketAddress: string | undefined,
  forwarded: string | undefined,
  trustedProxies: number,
): string | undefined {
  const reported = trustedProxies === 0 ? undefined : forwarded?.split(',').at(-trustedProxies)?.trim();
  return reported === undefined || isIP(reported) === 0 ? withoutPrefix(socketAddress) : reported;
}

const IPV4_PREFIX = '::ffff:';

function withoutPrefix(address: string | undefined): string | undefined {
  return address?.startsWith(IPV4_PREFIX) === true ? address.slice(IPV4_PREFIX.length) : address;
}

/** Returns what limits count as one client: an IPv4 address, or the /64 of an IPv6 address, in which it can choose any. */
export function clientKey(address: string | undefined): string {
  const [plain = ''] = withoutPrefix(address)?.split('%') ?? [];
  if (isIP(plain) === 0 || isIPv4(plain)) return plain;
  const canonical = new SocketAddress({ address: plain, family: 'ipv6' }).address;
  const [head = [], tail = []] = canonical.split('::').map((groups) => groups.split(':').filter(Boolean));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`;
}
