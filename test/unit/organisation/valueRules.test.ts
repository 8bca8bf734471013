import { describe, expect, it } from 'vitest';
import { canonicalLanguageTag } from '../../../shared/organisation/languageTag.ts';
import { emailRuleReason } from '../../../shared/organisation/rules.ts';
import { trimSpace } from '../../../shared/organisation/valueRules.ts';

describe('a text without the white space around it', () => {
  it.each([
    [' \t\r\n\u0085\u00a0a b\u3000', 'a b'],
    ['\ufeffa', '\ufeffa'],
    ['\u{1f600} ', '\u{1f600}'],
    [' \u2028 ', ''],
    ['', ''],
  ])('is, for %j, %j', (text, trimmed) => {
    expect(trimSpace(text)).toBe(trimmed);
  });

  it('takes linear time', () => {
    const text = `a${' '.repeat(1_000_000)}a`;
    expect(trimSpace(text)).toBe(text);
  });
});

const LONG = 'x'.repeat(64);

describe('the rule of e-mail addresses', () => {
  it.each([
    'a@b',
    'a+b/c=d@x.example',
    `${LONG}@x.example`,
    '<a@x.example>',
    ' a@x.example ',
    'Anna Muster <a@x.example>',
    '\u00e9@x.example',
  ])('accepts %j', (text) => {
    expect(emailRuleReason(text)).toBeUndefined();
  });

  it.each([
    ['', 'mail: no address'],
    ['a', "mail: missing '@' or angle-addr"],
    ['a b', "mail: missing '@' or angle-addr"],
    ['"a b"@x.example', "mail: missing '@' or angle-addr"],
    ['Anna <a@x.example', "mail: missing '@' or angle-addr"],
    ['a.@x.example', "mail: missing '@' or angle-addr"],
    ['.a@x.example', "mail: missing '@' or angle-addr"],
    ['a..b@x.example', "mail: missing '@' or angle-addr"],
    ['a@x-.example', ''],
    ['a@x_y.example', ''],
    ['a@\u00e9.example', ''],
    ['a@[1.2.3.4]', "mail: missing '@' or angle-addr"],
    [`x${LONG}@x.example`, ''],
    [`a@${LONG}x.example`, ''],
    ['a@x.example, b@x.example', "mail: missing '@' or angle-addr"],
  ])('rejects %j', (text, reason) => {
    expect(emailRuleReason(text)).toBe(reason);
  });
});

const letters = [...'abcdefghijklmnopqrstuvwxyz'];
const twoLetters = letters.flatMap((first) => letters.map((second) => first + second));

describe('a language tag', () => {
  // What golang.org/x/text v0.27.0 makes of them.
  it.each([
    ['de', 'de'],
    ['DE', 'de'],
    ['de-ch', 'de-CH'],
    ['en_US', 'en-US'],
    ['iw', 'he'],
    ['sh', 'sr-Latn'],
    ['mo', 'ro-MD'],
    ['deu', 'de'],
    ['twi', 'tw'],
    ['zh-hant-tw', 'zh-Hant-TW'],
    ['zh-yue', 'yue'],
    ['zh-cmn-Hans-CN', 'cmn-Hans-CN'],
    ['de-DD', 'de-DE'],
    ['en-840', 'en-US'],
    ['en-USA', 'usa'],
    ['i-default', 'en-x-i-default'],
    ['i-klingon', 'tlh'],
    ['tlh', 'tlh'],
    ['und-Latn', 'und-Latn'],
    ['en-Qaai', 'en-Zinh'],
    ['de-1996-1901', 'de-1901-1996'],
    ['de-u-co-phonebk', 'de-u-co-phonebk'],
    ['de-u-nu-latn-co-phonebk', 'de-u-co-phonebk-nu-latn'],
    ['x-a', 'x-a'],
    ['de-x-a-b', 'de-x-a-b'],
  ])('%s is %s', (text, tag) => {
    expect(canonicalLanguageTag(text)).toBe(tag);
  });

  it.each([
    ['xx', 'und'],
    ['xx-US', 'und-US'],
    ['zz-ZZ-ZZ', 'und-ZZ'],
    ['de-', 'de'],
    ['de_DE@euro', 'de'],
    ['en-US.UTF-8', 'en'],
    ['123', 'und'],
    ['english', 'und'],
    ['a', 'und'],
    ['x', 'und'],
    ['', 'und'],
    ['-', 'und'],
    ['d\u00e9', 'und'],
  ])('keeps what is known of %j: %s', (text, tag) => {
    expect(canonicalLanguageTag(text)).toBe(tag);
  });

  it.each(['cmn', 'arb', 'kmr-Latn', 'bcl', 'gsw', 'aab', 'qaa'])('stays where a ZITADEL stores it: %s', (tag) => {
    expect(canonicalLanguageTag(tag)).toBe(tag);
  });

  it('is canonical after one conversion', () => {
    const tags = twoLetters.map(canonicalLanguageTag);
    expect(tags.map(canonicalLanguageTag)).toEqual(tags);
  });
});
