import { canonicalLanguageTag, UNDETERMINED } from './languageTag.ts';
import { toE164 } from './phoneNumber.ts';
import type { RecordIssue } from './relations.ts';
import type { ValueRule } from './section.ts';
import { trimSpace } from './trimSpace.ts';

/** Creates the rule of a text; other values and absent fields stay as they are. */
export function textRule(
  convert: (text: string) => { readonly value?: unknown; readonly issue?: RecordIssue },
): ValueRule {
  return (value) => (typeof value === 'string' ? convert(value) : { value });
}

/** Keeps a value, also a number that the enumeration's definition does not have. */
export const asGiven: ValueRule = (value) => ({ value });

/** Trims a text; one without content is unset, or dropped from its list. */
export const trimmed: ValueRule = textRule((text) => ({ value: trimSpace(text) || undefined }));

/** Trims a text that must have content. */
export function trimmedText(missing: RecordIssue): ValueRule {
  return (value) => {
    const text = typeof value === 'string' ? trimSpace(value) : '';
    return text === '' ? { issue: missing } : { value: text };
  };
}

/** Replaces a language tag by its canonical form. */
export const languageTag: ValueRule = textRule((text) => ({ value: canonicalLanguageTag(text) }));

/** The languages of ZITADEL's own texts. */
const supportedLanguages: ReadonlySet<string> = new Set(
  'bg cs de en es fr hu id it ja ko mk nl pl pt ro ru sv tr zh'.split(' '),
);

/** Replaces a text's language by its canonical form. ZITADEL has texts in its own languages only. */
export const textLanguage: ValueRule = (value) => {
  const language = canonicalLanguageTag(typeof value === 'string' ? value : '');
  if (language === UNDETERMINED) return { issue: { id: 'LANG-3M9f2', key: 'Errors.Language.Undefined' } };
  if (supportedLanguages.has(language)) return { value: language };
  return { issue: { id: 'LANG-lg4DP', key: 'Errors.Language.NotSupported' } };
};

/** Converts a phone number to E.164. */
export const phoneNumber: ValueRule = textRule((text) => {
  const value = toE164(text);
  return value === undefined ? { issue: { id: 'PHONE-so0wa', key: 'Errors.User.Phone.Invalid' } } : { value };
});

/** Creates the rule of a duration that is `value` where it is absent or zero. */
export function durationOr(value: string): ValueRule {
  return (duration) => ({ value: duration === undefined || duration === '0s' ? value : duration });
}

/** Creates the rule of a list's enumeration value: an unspecified or unknown one becomes `name`. */
export function enumerationOr(name: string): ValueRule {
  return (value) => ({ value: typeof value === 'string' && !value.endsWith('_UNSPECIFIED') ? value : name });
}

/** Creates the rule of a name that stands for a number. */
export function numberNamed(numbers: ReadonlyMap<string, string>): ValueRule {
  return textRule((name) => ({ value: numbers.get(name) ?? name }));
}
