import { isIP } from 'node:net';

/** Whether a host is reachable from this machine only. An IPv6 address may have the brackets of URLs. */
export function isLoopback(host: string): boolean {
  if (['localhost', '::1', '[::1]'].includes(host)) return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
