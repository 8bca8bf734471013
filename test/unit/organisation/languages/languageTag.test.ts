import { describe, expect, it } from 'vitest';
import { canonicalLanguageTag } from '../../../../shared/organisation/languages/languageTag.ts';

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
    ['mo-US', 'ro-US'],
    ['deu', 'de'],
    ['zh-hant-tw', 'zh-Hant-TW'],
    ['zh-yue', 'yue'],
    ['de-DD', 'de-DE'],
    ['en-840', 'en-US'],
    ['en-Latn-USA', 'en-Latn-US'],
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
    ['iw-XX-nonsense', 'iw-XX'],
    ['en-Xxxx', 'en'],
    ['en-Abcd', 'en'],
    ['de-', 'de'],
    ['123', 'und'],
    ['english', 'und'],
    ['a', 'und'],
    ['', 'und'],
    ['-', 'und'],
    ['d\u00e9', 'und'],
  ])('keeps what is known of %j: %s', (text, tag) => {
    expect(canonicalLanguageTag(text)).toBe(tag);
  });
});
