import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordSections } from '../../../shared/organisation/allSections.ts';
import { canonicalLanguageTag } from '../../../shared/organisation/languageTag.ts';
import { emailRuleReason } from '../../../shared/organisation/rules.ts';
import { isEmailAddress, languageTag, trimSpace } from '../../../shared/organisation/valueRules.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';
import { repetitions } from '../../support/repetitions.ts';

describe('a text without its surrounding white space', () => {
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
    ...['a@b', 'a+b/c=d@x.example', `${LONG}@x.example`, '<a@x.example>', ' a@x.example '],
    ...['Anna Muster <a@x.example>', '\u00e9@x.example', 'a@\u00e9.example'],
    ...['\u0438@\u043f\u0440\u0438\u043c\u0435\u0440.example', 'a@x_y.example', '"a b"@x.example', 'a@[1.2.3.4]'],
  ])('accepts %j', (text) => {
    expect(emailRuleReason(text)).toBeUndefined();
  });

  it.each([
    ['', 'mail: no address'],
    ['a', "mail: missing '@' or angle-addr"],
    ['a b', "mail: missing '@' or angle-addr"],
    ['Anna <a@x.example', "mail: missing '@' or angle-addr"],
    ['a.@x.example', "mail: missing '@' or angle-addr"],
    ['.a@x.example', "mail: missing '@' or angle-addr"],
    ['a..b@x.example', "mail: missing '@' or angle-addr"],
    ['a@x.example, b@x.example', "mail: missing '@' or angle-addr"],
  ])('rejects %j', (text, reason) => {
    expect(emailRuleReason(text)).toBe(reason);
  });
});

describe('a stored e-mail address', () => {
  it.each([
    ['a@b', true],
    [`x${LONG}@x.example`, true],
    // Older releases store these.
    ['a.@x.example', true],
    ['.a@x.example', true],
    ['a..b@x.example', true],
    // Newer releases store these.
    ['a@x-.example', true],
    ['a@x_y.example', true],
    [`a@${LONG}x.example`, true],
    ['\u00e9@\u00e9.example', true],
    ['a@\u00e9_.example', false],
    ['a@\u00e9/x.example', false],
    ['a@xn--\u00e9.example', false],
    ['"a b"@x.example', true],
    ['a@[1.2.3.4]', true],
    ['a b@x.example', false],
    ['"a"b"@x.example', false],
    ['Anna <a@x.example>', false],
    ['a@x.example, b@x.example', false],
    ['a', false],
  ])('is %j: %s', (text, isStored) => {
    expect(isEmailAddress(text)).toBe(isStored);
  });
});

/** Texts and what becomes of each: `text=tag`, separated by white space. */
function pairs(text: string): [string, string][] {
  return text
    .trim()
    .split(/\s+/)
    .map((pair) => {
      const [given = '', tag = ''] = pair.split('=');
      return [given, tag];
    });
}

const letters = [...'abcdefghijklmnopqrstuvwxyz'];
const twoLetters = letters.flatMap((first) => letters.map((second) => first + second));

describe('a language tag', () => {
  // The results of golang.org/x/text v0.27.0.
  it.each(
    pairs(`
      de=de DE=de de-ch=de-CH en_US=en-US iw=he sh=sr-Latn mo=ro-MD deu=de twi=tw zh-hant-tw=zh-Hant-TW
      zh-yue=yue zh-cmn-Hans-CN=cmn-Hans-CN de-DD=de-DE en-840=en-US en-USA=usa i-default=en-x-i-default
      i-klingon=tlh tlh=tlh und-Latn=und-Latn en-Qaai=en-Zinh de-1996-1901=de-1901-1996
      de-u-co-phonebk=de-u-co-phonebk de-u-nu-latn-co-phonebk=de-u-co-phonebk-nu-latn x-a=x-a
      de-x-a-b=de-x-a-b
    `),
  )('%s is %s', (text, tag) => {
    expect(canonicalLanguageTag(text)).toBe(tag);
  });

  it.each(pairs('xx=und xx-US=und-US zz-ZZ-ZZ=und-ZZ de-=de 123=und english=und a=und x=und =und -=und d\u00e9=und'))(
    'keeps the known parts of %j: %s',
    (text, tag) => {
      expect(canonicalLanguageTag(text)).toBe(tag);
    },
  );

  it.each([
    ['de_DE@euro', 'de-DE'],
    ['de.UTF-8', 'de'],
    ['en-US.UTF-8', 'en-US'],
    ['en_GB.ISO8859-15', 'en-GB'],
    ['sr_RS@latin', 'sr-Latn-RS'],
    ['uz@cyrillic', 'uz-Cyrl'],
    ['de-CH,de;q=0.9,en;q=0.8', 'de-CH'],
    [' fr ; q=1', 'fr'],
    ['C.UTF-8', 'und'],
    ['*', 'und'],
  ])('of the locale or the list of preferences %j is %s', (text, tag) => {
    expect(canonicalLanguageTag(text)).toBe(tag);
  });

  it.each([
    [`de${'-x1'.repeat(20_000)}`, 'de'],
    [`en${'-a-bcd'.repeat(10_000)}`, 'en-a-bcd'],
    [`en-a${'-bcd'.repeat(15_000)}-b`, `en-a${'-bcd'.repeat(15_000)}`],
  ])('keeps the beginning of a long text that is a tag (%#)', (text, tag) => {
    expect(canonicalLanguageTag(text)).toBe(tag);
  });

  it('keeps the longest beginning that is a tag', () => {
    const longest = (subtags: readonly string[]): string | undefined => {
      try {
        return Intl.getCanonicalLocales(subtags.join('-'))[0];
      } catch {
        return longest(subtags.slice(0, -1));
      }
    };
    const subtag = fc.constantFrom(...'x a b u t m0 ca bcde us x1 1994 latn 419 variant1 true h0 hybrid co'.split(' '));
    fc.assert(
      fc.property(fc.array(subtag, { maxLength: 10 }), (rest) => {
        const subtags = ['de', ...rest];
        expect(canonicalLanguageTag(subtags.join('-'))).toBe(longest(subtags));
      }),
    );
  });

  it.each(['cmn', 'arb', 'kmr-Latn', 'bcl', 'gsw', 'aab', 'qaa'])(
    'stays unchanged if a ZITADEL stores it: %s',
    (tag) => {
      expect(canonicalLanguageTag(tag)).toBe(tag);
    },
  );

  it('is canonical after one conversion', () => {
    const tags = twoLetters.map(canonicalLanguageTag);
    expect(tags.map(canonicalLanguageTag)).toEqual(tags);
  });
});

describe('the language of a person', () => {
  it.each(pairs('DE=de en_US=en-US i-lux=lb sh-ekavsk=sh-ekavsk i-default=i-default sr-Latn-RS=sr-Latn-RS'))(
    '%s is stored as %s, which fits into its field',
    (text, stored) => {
      expect(languageTag(text)).toEqual({ value: stored });
    },
  );

  it.each(pairs('de_DE@euro=de-DE de-@@-CH=de-CH english=und xx=und zz-ZZ=und-ZZ'))(
    '%s that is no known tag is stored as %s',
    (text, stored) => {
      expect(languageTag(text)).toEqual({ value: stored });
    },
  );
});

const subtag = fc.oneof(
  fc.stringMatching(/^[a-zA-Z\d]{1,8}$/),
  fc.constantFrom('sh', 'zh', 'sgn', 'no', 'i', 'x', 'hy', 'ekavsk', 'arevela', 'Latn', 'YU', 'default'),
);
const language = fc.array(subtag, { minLength: 1, maxLength: 4 }).map((subtags) => subtags.join('-').slice(0, 10));
const phone = fc.stringMatching(/^\+0{0,3}[\d ()/a-z.-]{3,20}$/);
const text = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc.stringMatching(/^[ \u2003\u0085]{0,2}[:a-z/.%?#@"<>]{0,10}[ \u2003]{0,2}$/),
);
const rules = recordSections.flatMap(({ name, values = {} }) =>
  Object.entries(values).map(([path, rule]) => [`${name}.${path}`, rule] as const),
);

describe('a converted value', () => {
  it.each(rules)('is stable under a second conversion, in %s', (path, rule) => {
    const values = /language$/i.test(path) ? language : path.endsWith('phone') ? phone : text;
    const numRuns = repetitions({ few: 300, many: 30_000 });
    fc.assert(
      fc.property(values, (given) => {
        const { value, issue } = rule(given);
        if (issue === undefined && value !== undefined) expect(rule(value)).toEqual({ value });
      }),
      { numRuns, examples: [['\u2003:x'], ['+63003921533712']] },
    );
  });
});
