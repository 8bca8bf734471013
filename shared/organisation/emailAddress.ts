import { MailboxError, parseMailbox } from './mailbox.ts';
import type { RecordIssue } from './relations.ts';

/** The issue of an e-mail address that passes the rule of its field, but is not plain. */
export const emailInvalid: RecordIssue = { id: 'EMAIL-599BI', key: 'Errors.User.Email.Invalid' };

const LABEL = /^(?!-)[a-z\d-]{1,63}(?<!-)$/;

/**
 * Finds the reason why a text is no e-mail address by the rule of ZITADEL's messages (zitadel 3.2). The rule accepts
 * more than an address: names, comments, angles.
 * @returns undefined for a valid text, else the reason as far as it is known, or an empty text
 */
export function emailRuleReason(text: string): string | undefined {
  try {
    const address = parseMailbox(text);
    const at = address.indexOf('@');
    const domain = address.slice(at + 1);
    const fits = Buffer.byteLength(address) <= 254 && Buffer.byteLength(address.slice(0, at)) <= 64;
    return fits && isHostname(domain) ? undefined : '';
  } catch (error) {
    if (error instanceof MailboxError) return error.message;
    throw error;
  }
}

function isHostname(name: string): boolean {
  const labels = name.replace(/\.$/, '').toLowerCase().split('.');
  return Buffer.byteLength(name) <= 253 && labels.every((label) => LABEL.test(label));
}

const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const plainAddress = new RegExp(`^[\\w.!#$%&'*+/=?^\`{|}~-]+@${label}(?:\\.${label})*$`);

/** Whether a text is a plain e-mail address of ASCII characters, as ZITADEL's records need it (zitadel 3.4). */
export function isPlainEmailAddress(text: string): boolean {
  return plainAddress.test(text);
}
