import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { ScalarFinder } from './scalarFinder.ts';

/** A value whose text the wire's JSON mapping rejects. */
export interface WireFormIssue {
  readonly path: string;
  readonly reason: string;
}

const durations = new ScalarFinder(({ message }: DescField) => message?.typeName === 'google.protobuf.Duration');
const bytes = new ScalarFinder(({ scalar }: DescField) => scalar === ScalarType.BYTES);

/**
 * Checks the texts of durations and bytes in a message's JSON by the rules of ZITADEL's decoder (zitadel 1.1), which
 * accepts other texts than ours. Rewrites durations in place to the form that ours accepts.
 */
export function unifyWireForms(schema: DescMessage, json: unknown): WireFormIssue[] {
  const issues: WireFormIssue[] = [];
  for (const { value, path, replace } of durations.find(schema, json)) {
    if (typeof value !== 'string') continue;
    const duration = canonicalDuration(value);
    if (duration === undefined) issues.push({ path, reason: `invalid duration ${JSON.stringify(value)}` });
    else if (duration !== value) replace(duration);
  }
  for (const { value, path } of bytes.find(schema, json)) {
    if (typeof value === 'string' && !isBase64(value)) issues.push({ path, reason: 'invalid base64' });
  }
  return issues;
}

const DURATION = /^([+-]?)(?=[\d.])(0|[1-9]\d*)?(?:\.(\d{0,9}))?s$/;

/** Returns a duration with digits on both sides of its point; undefined for a text that is no duration. */
export function canonicalDuration(text: string): string | undefined {
  const match = DURATION.exec(text);
  if (match === null) return undefined;
  const [, sign, seconds = '0', fraction = ''] = match;
  return `${sign === '-' ? '-' : ''}${seconds}${fraction === '' ? '' : `.${fraction}`}s`;
}

/** Whether a text is base64 of either alphabet, with or without padding. Line breaks do not count. */
export function isBase64(text: string): boolean {
  const digits = /[-_]/.test(text) ? /^[\w-]*$/ : /^[A-Za-z\d+/]*$/;
  const content = text.replace(/[\r\n]/g, '');
  const body = content.replace(/={1,2}$/, '');
  if (!digits.test(body)) return false;
  const isPadded = text.length % 4 === 0;
  return isPadded ? content.length % 4 === 0 : body === content && content.length % 4 !== 1;
}
