import type { RecordIssue } from './relations.ts';
import { trimSpace } from './trimSpace.ts';

/** The issue of an e-mail address that passes the rule of its field, but is not plain. */
export const emailInvalid: RecordIssue = { id: 'EMAIL-599BI', key: 'Errors.User.Email.Invalid' };

const LABEL = /^(?!-)[a-z\d-]{1,63}(?<!-)$/;
const inAngles = /^[^@<>]*<([^<>]*)>$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: an address has none.
const address = /^([^\x00- \x7f()<>[\]:;@\\,"]+)@([^\x00- \x7f()<>[\]:;@\\,"]+)$/;

/**
 * Finds the reason why a text is no e-mail address by the rule of ZITADEL's messages (zitadel 3.2). The rule also accepts
 * characters outside ASCII, and an address in angles after a name.
 * @returns undefined for a valid text, else ZITADEL's reason as far as it is known, or an empty text
 */
export function emailRuleReason(text: string): string | undefined {
  const trimmed = trimSpace(text);
  if (trimmed === '') return 'mail: no address';
  const given = inAngles.exec(trimmed)?.[1] ?? trimmed;
  const [, local = '', domain = ''] = address.exec(given) ?? [];
  if ([local, domain].some((part) => part === '' || /^\.|\.\.|\.$/.test(part)))
    return "mail: missing '@' or angle-addr";
  const fits = Buffer.byteLength(given) <= 254 && Buffer.byteLength(local) <= 64;
  return fits && isHostname(domain) ? undefined : '';
}

function isHostname(name: string): boolean {
  const labels = name.toLowerCase().split('.');
  return Buffer.byteLength(name) <= 253 && labels.every((label) => LABEL.test(label));
}

const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const plainAddress = new RegExp(`^[\\w.!#$%&'*+/=?^\`{|}~-]+@${label}(?:\\.${label})*$`);

/** Whether a text is a plain e-mail address of ASCII characters, as ZITADEL's records need it (zitadel 3.4). */
export function isPlainEmailAddress(text: string): boolean {
  return plainAddress.test(text);
}
