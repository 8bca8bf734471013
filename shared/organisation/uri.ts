import type { ValueRule } from './section.ts';
import { trimSpace } from './valueRules.ts';

/** Trims the base URI of a login, which Go's `url.Parse` must accept. */
export const loginUri: ValueRule = (value) => {
  if (typeof value !== 'string') return { value };
  const reason = uriReason(value);
  if (reason === undefined) return { value: trimSpace(value) || undefined };
  return { issue: { id: '', key: `parse ${JSON.stringify(value)}: ${reason}` } };
};

/** Finds the reason why Go's `url.Parse` rejects a text, in its words. */
function uriReason(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  if (/[\x00-\x1f\x7f]/.test(text)) return 'net/url: invalid control character in URL';
  if (text.startsWith(':')) return 'missing protocol scheme';
  const [, scheme = '', rest = text] = /^([a-zA-Z][a-zA-Z\d+.-]*):(.*)$/s.exec(text.replace(/#.*/s, '')) ?? [];
  const path = rest.replace(/\?.*/s, '');
  if (scheme !== '' && !path.startsWith('/')) return undefined;
  if (scheme === '' && /^[^/]*:/.test(path)) return 'first path segment in URL cannot contain colon';
  const [, authority = '', afterAuthority = path] = /^\/\/([^/]*)(.*)$/s.exec(path) ?? [];
  return authorityReason(authority) ?? escapeReason(afterAuthority) ?? escapeReason(/#(.*)/s.exec(text)?.[1] ?? '');
}

function authorityReason(authority: string): string | undefined {
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  if (host.startsWith('[')) return host.includes(']') ? undefined : "missing ']' in host";
  const [, port] = /(:[^:]*)$/.exec(host) ?? [];
  if (port !== undefined && !/^:\d*$/.test(port)) return `invalid port ${JSON.stringify(port)} after host`;
  const character = /[\s"<>\\^`{|}]/.exec(host)?.[0];
  return character === undefined ? undefined : `invalid character ${JSON.stringify(character)} in host name`;
}

function escapeReason(text: string): string | undefined {
  const malformed = /%(?![\da-fA-F]{2}).{0,2}/s.exec(text)?.[0];
  return malformed === undefined ? undefined : `invalid URL escape ${JSON.stringify(malformed)}`;
}
