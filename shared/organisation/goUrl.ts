// Recognises the URLs that Go's `url.Parse` accepts. ZITADEL checks the base URI of a login with `url.Parse` (zitadel
// 9.1).

import { isIPv6 } from 'node:net';

const CONTROL = /\p{Cc}/u;
const BROKEN_ESCAPE = /%(?![\da-f]{2})/i;
const HOST = /^(?:[\w.~!$&'()*+,;=:[\]<>"-]|\P{ASCII}|%25|%[89a-fA-F][\da-fA-F])*$/u;
const USER = /^[\w.:~!$&'()*+,;=%@-]*$/;
const PORT = /^(?:\[(?<address>[^\]%]+)(?:%25[^\]]+)?\]|[^:[\]]*)(?::\d*)?$/;

export function isGoUrl(text: string): boolean {
  const { address = '', fragment = '' } = /^(?<address>[^#]*)#?(?<fragment>.*)$/s.exec(text)?.groups ?? {};
  if (CONTROL.test(text) || address.startsWith(':') || BROKEN_ESCAPE.test(fragment)) return false;
  const [scheme = ''] = /^[a-z][a-z\d+.-]*:/i.exec(address) ?? [];
  const [afterScheme = ''] = address.slice(scheme.length).split('?');
  if (!afterScheme.startsWith('/')) {
    const [segment = ''] = afterScheme.split('/');
    return scheme !== '' || (!segment.includes(':') && !BROKEN_ESCAPE.test(afterScheme));
  }
  const hasAuthority = afterScheme.startsWith('//') && (scheme !== '' || !afterScheme.startsWith('///'));
  const [authority = ''] = hasAuthority ? afterScheme.slice(2).split('/') : [];
  const path = hasAuthority ? afterScheme.slice(2 + authority.length) : afterScheme;
  return isAuthority(authority) && !BROKEN_ESCAPE.test(path);
}

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  const [user, host] = [authority.slice(0, Math.max(at, 0)), authority.slice(at + 1)];
  if (!USER.test(user) || BROKEN_ESCAPE.test(user) || !HOST.test(host)) return false;
  const parts = PORT.exec(host)?.groups;
  return parts !== undefined && (parts.address === undefined || isIPv6(parts.address));
}
