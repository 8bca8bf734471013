import { describe, expect, it } from 'vitest';
import { emailRuleReason } from '../../../shared/organisation/rules.ts';
import { isPlainEmailAddress } from '../../../shared/organisation/valueRules.ts';

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

describe('a plain e-mail address', () => {
  it.each(['a@b', 'a+b@x.example'])('is %j', (text) => expect(isPlainEmailAddress(text)).toBe(true));
  it.each(['<a@x.example>', ' a@x.example', '\u00e9@x.example', '"a"@x.example'])('is not %j', (text) =>
    expect(isPlainEmailAddress(text)).toBe(false),
  );
});
