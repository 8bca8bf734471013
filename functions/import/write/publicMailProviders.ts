import { domainToASCII } from 'node:url';
import providers from 'email-providers/all.json' with { type: 'json' };

/** The list has a domain that belongs to nobody, and stands in examples of all kinds (RFC 2606). */
const RESERVED = 'example.com';

/** The domains in which anybody can get an address (docs/decisions/0018-public-mail-providers.md). */
const domains: ReadonlySet<string> = new Set(
  providers.filter((domain) => domain !== RESERVED).map((domain) => domainToASCII(domain)),
);

/** Whether a domain is that of a public mail provider, however it is written. */
export function isPublicMailProvider(domain: string): boolean {
  const ascii = domainToASCII(domain);
  return ascii !== '' && domains.has(ascii);
}
