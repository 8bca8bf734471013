import { domainToASCII } from 'node:url';
import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { shortenedText } from '../errors/identityError.ts';
import { isJsonObject } from '../json/jsonObject.ts';
import { canonicalLanguageTag, hasEnglishName, UNDETERMINED } from './languageTag.ts';
import type { RecordIssue } from './relations.ts';
import type { ValueRule } from './sections/section.ts';

const isWhiteSpace = (character: string | undefined) => character !== undefined && /\p{White_Space}/u.test(character);

/** Removes white space at both ends of a text, like Go's `strings.TrimSpace`, in linear time. */
export function trimSpace(text: string): string {
  const start = text.search(/\P{White_Space}/u);
  if (start < 0) return '';
  let end = text.length;
  while (isWhiteSpace(text[end - 1])) end--;
  return text.slice(start, end);
}

/** Creates a rule that converts texts with `convert`. The rule leaves other values and absent fields unchanged. */
export function textRule(convert: (text: string) => ReturnType<ValueRule>): ValueRule {
  return (value) => (typeof value === 'string' ? convert(value) : { value });
}

export const trimmed: ValueRule = textRule((text) => ({ value: trimSpace(text) || undefined }));

export function trimmedText(missing: RecordIssue): ValueRule {
  return (value) => {
    const text = typeof value === 'string' ? trimSpace(value) : '';
    return text === '' ? { issue: missing } : { value: text };
  };
}

const MAX_LANGUAGE_CHARACTERS = 10;

/**
 * Replaces the language tag of a person with its canonical form. Keeps the tag if the canonical form is longer than the
 * field allows, because an import into ZITADEL would then fail.
 */
export const languageTag: ValueRule = textRule((text) => {
  const canonical = canonicalLanguageTag(text);
  return { value: canonical.length > MAX_LANGUAGE_CHARACTERS ? text : canonical };
});

/**
 * Replaces the language of custom texts with its canonical form. Accepts every language that has an English name,
 * because each release of ZITADEL supports other languages.
 */
export const textLanguage: ValueRule = (value) => {
  const text = typeof value === 'string' ? value : '';
  const params = text === '' ? {} : { language: text };
  const language = canonicalLanguageTag(text);
  if (language === UNDETERMINED) return { issue: { id: 'LANG-3M9f2', key: 'Errors.Language.Undefined', params } };
  const [base = ''] = language.split('-');
  if (base.length > 1 && hasEnglishName(base)) return { value: language };
  return { issue: { id: 'LANG-lg4DP', key: 'Errors.Language.NotSupported', params } };
};

/**
 * Converts a person's phone number to E.164 if it begins with a plus sign or with 00. Leaves other texts unchanged. A
 * text that is not a single number, such as two numbers or a number with a label, is not converted, because ZITADEL
 * would store a wrong number or none. The rule keeps such a text if its first character is the plus sign that ZITADEL
 * requires. Otherwise, it drops the text.
 */
export const phone: ValueRule = (value) => {
  if (!isJsonObject(value) || typeof value.phone !== 'string') return { value };
  const text = internationalNumber(value.phone);
  if (text === undefined) return { value };
  const unchanged = value.phone.startsWith('+') ? { value } : { dropped: [value.phone] };
  const number = withoutExtension(text);
  if (SECOND_NUMBER.test(text) || !digitsAndSeparators.test(number)) return unchanged;
  const converted = toStableE164(number);
  if (converted === value.phone) return { value };
  if (converted === undefined || !hasPossibleLength(converted)) return unchanged;
  const dropped = text.slice(number.length).trim();
  return { value: { ...value, phone: converted }, ...(dropped === '' ? {} : { dropped: [dropped] }) };
};

/**
 * Returns a phone number that begins with a plus sign or with 00; undefined for another text. Removes the prefix of a
 * link, such as `tel:`, and invisible characters that address books copy.
 */
export function internationalNumber(text: string): string | undefined {
  const number = text
    .replaceAll(/(?![\xad\u200b\u2060])\p{Cf}/gu, '')
    .trim()
    .replace(/^(?:tel|callto):\s*/i, '');
  return /^[(（\s]*(?:[+＋]|00)/.test(number) ? number : undefined;
}

const digitsAndSeparators =
  /^[+＋\p{Nd}\p{White_Space}\p{Pd}\u2212\u30fc\uff0e\uff0f\u00ad\u200b\u2060()（）［］.[\]/~\u2053\u223c\uff5e]*$/u;

function hasPossibleLength(number: string): boolean {
  return parsePhoneNumberFromString(number, { extract: false })?.isPossible() === true;
}

export function isE164(phone: string): boolean {
  return /^\+\d+$/.test(phone) && toE164(phone) === phone;
}

/**
 * Converts a phone number to E.164 until a further conversion changes nothing. This is necessary because each
 * conversion removes one national prefix: if one were left, the import of the stored number would change the number.
 */
function toStableE164(text: string): string | undefined {
  const number = toE164(text);
  return number === undefined || number === text ? number : toStableE164(number);
}

export function droppedUnless(isValid: (text: string) => boolean): ValueRule {
  return (value) => (typeof value !== 'string' || isValid(value) ? { value } : { dropped: [value] });
}

export function durationOr(value: string): ValueRule {
  return (duration) => {
    if (duration === undefined) return { value };
    return { value: duration === '0s' ? value : duration };
  };
}

export function enumerationOr(name: string): ValueRule {
  return textRule((value) => ({ value: value.endsWith('_UNSPECIFIED') ? name : value }));
}

export function numberNamed(numbers: ReadonlyMap<string, string>): ValueRule {
  return textRule((name) => {
    const number = numbers.get(name);
    return number === undefined ? { value: name } : { value: number, isNotation: true };
  });
}

/** Returns the issue of an invalid e-mail address. Quotes the address, so that spaces are visible. */
export function emailInvalid(address: string): RecordIssue {
  const params = { address: shortenedText(JSON.stringify(address)) };
  return { id: 'EMAIL-599BI', key: 'Errors.User.Email.Invalid', params };
}

const localPart = /^(?:[\w.!#$%&'*+/=?^`{|}~-]|[^\p{ASCII}\p{C}\p{Z}]|[\u200c\u200d])+$/u;
const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const domainName = new RegExp(`^${label}(?:\\.${label})*$`);

/**
 * Whether ZITADEL stores a text as an e-mail address (zitadel 3.4). Older releases of ZITADEL use a pattern. Newer
 * releases follow RFC 5322, which also permits a local part in quotes or a domain in brackets, and RFC 6531, which
 * determines the permitted letters outside ASCII.
 */
export function isEmailAddress(text: string): boolean {
  return isInDns(text) || (/^\p{ASCII}*$/u.test(text) && (isDotAtoms(text) || quotedOrLiteral.test(text)));
}

/** Matches an address with a local part in quotes, or with a domain in brackets. */
export const quotedOrLiteral = /^(?:"(?:[^"\\\r\n]|\\.)*"@[^\s@"[\]]+|[^\s@"]+@\[[^[\]\s]*\])$/;

function isInDns(text: string): boolean {
  const at = text.lastIndexOf('@');
  return localPart.test(text.slice(0, Math.max(at, 0))) && domainName.test(asciiDomain(text.slice(at + 1)));
}

const atom = String.raw`[^\x00- \x7f()<>[\]:;@\\,".]+`;
const dotAtoms = new RegExp(`^${atom}(?:\\.${atom})*@${atom}(?:\\.${atom})*$`);

/**
 * True if a text is an e-mail address without quotes, comments and angle brackets. Does not check whether DNS permits
 * the domain.
 */
export function isDotAtoms(text: string): boolean {
  return dotAtoms.test(text);
}

/**
 * Converts a domain to the form that DNS uses for letters outside ASCII. Returns an empty text if DNS does not permit
 * the letters.
 */
function asciiDomain(domain: string): string {
  if (/^\p{ASCII}*$/u.test(domain)) return domain;
  // Convert no other texts, because the conversion would drop the text after a slash or a colon.
  return /^(?:[\w.-]|\P{ASCII})*$/u.test(domain) ? domainToASCII(domain) : '';
}

/** Matches a text that may be a phone number: two digits in a row, or three digits with any separators between them. */
const viable =
  /\p{Nd}{2}|(?:[-x\u2010-\u2015\u2212\u30fc\uff0d-\uff0f \u00a0\u00ad\u200b\u2060\u3000()（）［］.[\]/~\u2053\u223c\uff5e*]*\p{Nd}){3}/u;
/** Matches the characters that separate two phone numbers. */
const SECOND_NUMBER = /[\\/] *x/;
/** Matches the extension of a phone number, with the text that introduces it. */
const extension =
  /(?:;ext=\p{Nd}{1,7}|(?:e?xt(?:ensi(?:o\u0301?|ó))?n?|ｅ?ｘｔｎ?|[,xｘX#＃~～]|int|anexo|ｉｎｔ)[:.．]?[ \u00a0\t,-]*\p{Nd}{1,7}#?|[- ]\p{Nd}{1,5}#)$/u;

/**
 * Converts a phone number without letters to E.164 (zitadel 2.5). Does not check whether the number is assigned.
 * @returns undefined for a text that is not a phone number
 */
function toE164(text: string): string | undefined {
  if (!viable.test(text)) return undefined;
  // After the plus sign, remove `00`, which is the international prefix in Switzerland: ZITADEL treats numbers as Swiss
  // if they have no country code.
  const digits = digitsOf(text).replace(/^00(?=[1-9])/, '');
  return parsePhoneNumberFromString(`+${digits}`, { extract: false })?.number;
}

function withoutExtension(text: string): string {
  const shortened = text.replace(extension, '');
  return viable.test(shortened) ? shortened : text;
}

/** Returns the digits of a text in ASCII, including digits of other scripts. */
function digitsOf(text: string): string {
  return text.replace(/\P{Nd}+/gu, '').replace(/\D/gu, asciiDigit);
}

function asciiDigit(character: string): string {
  // The ten digits of a script are consecutive code points. The mathematical digits consist of several such groups of
  // ten, one after the other, hence `% 10`.
  let first = character.codePointAt(0) ?? 0;
  const code = first;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(first - 1))) first--;
  return String((code - first) % 10);
}

/** The maximum number of characters in the id of an organisation, and in an id by which an operation finds a record. */
export const MAX_ID_CHARACTERS = 200;

/** Most ids have few code units. So count the characters only if there are more code units than the maximum. */
export function isLongId(id: string): boolean {
  return id.length > MAX_ID_CHARACTERS && [...id].length > MAX_ID_CHARACTERS;
}
