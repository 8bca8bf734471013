import { isIP } from 'node:net';

/** True if only this machine can reach a host. An IPv6 address may be in brackets, as in URLs. */
export function isLoopback(host: string): boolean {
  if (['localhost', '::1', '[::1]'].includes(host)) return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
