import { isIP, isIPv4, SocketAddress } from 'node:net';

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
