import { describe, expect, it } from 'vitest';
import { canonicalLanguageTag } from '../../../shared/organisation/languageTag.ts';

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
