import { describe, expect, it } from 'vitest';
import {
  checkComplexityPolicy,
  complexityIssue,
  defaultComplexity,
  isTotpSeed,
  parseComplexity,
  passwordIssue,
} from '../../../shared/organisation/passwordRules.ts';

describe('the complexity of a password', () => {
  it.each([
    ['Secret1', 'DOMAIN-HuJf6'],
    ['SECRET1!', 'DOMAIN-co3Xw'],
    ['Üü1!üüüü', 'DOMAIN-co3Xw'],
    ['secret1!', 'DOMAIN-VoaRj'],
    ['ünicöd1!Ü', 'DOMAIN-VoaRj'],
    ['Secrets!', 'DOMAIN-ZBv4H'],
    ['Aa١!aaaa', 'DOMAIN-ZBv4H'],
    ['Secrets1', 'DOMAIN-ZDLwA'],
  ])('is violated by %s under the default policy: %s', (password, id) => {
    expect(complexityIssue(defaultComplexity, password)?.id).toBe(id);
  });

  it.each(['Secret1!', 'Aa1 aaaa', 'Aa1😀aaaa', 'Aa1üaaaa'])('is met by %s under the default policy', (password) => {
    expect(complexityIssue(defaultComplexity, password)).toBeUndefined();
  });

  it('depends on the policy of the organisation alone', () => {
    expect(complexityIssue(parseComplexity({ minLength: '4' }), 'abcd')).toBeUndefined();
    expect(complexityIssue(parseComplexity({ minLength: '4', hasNumber: true }), 'abcd')?.id).toBe('DOMAIN-ZBv4H');
  });

  it('counts the length in bytes, as in ZITADEL', () => {
    expect(complexityIssue(parseComplexity({ minLength: '8' }), '😀😀')).toBeUndefined();
    expect(complexityIssue(parseComplexity({ minLength: '9' }), '😀😀')?.id).toBe('DOMAIN-HuJf6');
  });
});

describe('a password of more than 72 bytes', () => {
  const [longest, tooLong] = [`Aa1!${'ü'.repeat(34)}`, `Aa1!${'ü'.repeat(34)}x`];

  it("is rejected with ZITADEL's message, which has no id", () => {
    expect(passwordIssue(defaultComplexity, longest)).toBeUndefined();
    const issue = passwordIssue(defaultComplexity, tooLong);
    expect(issue).toMatchObject({ id: '', key: 'bcrypt: password length exceeds 72 bytes' });
  });

  it('is reported for the policy first', () => {
    expect(passwordIssue(defaultComplexity, 'x'.repeat(73))?.id).toBe('DOMAIN-VoaRj');
  });
});

describe('the length in a complexity policy', () => {
  it.each([{ minLength: '1' }, { minLength: '72' }])('may be that of %j', (policy) => {
    expect(checkComplexityPolicy(policy)).toBeUndefined();
  });

  it.each([{}, { hasSymbol: true }, { minLength: '0' }, { minLength: '73' }, { minLength: '18446744073709551615' }])(
    'may not be that of %j',
    (policy) => {
      const key = 'Errors.User.PasswordComplexityPolicy.MinLengthNotAllowed';
      expect(checkComplexityPolicy(policy)).toEqual({ id: 'MODEL-Lsp0e', key });
    },
  );
});

describe('a TOTP seed', () => {
  // As github.com/pquerna/otp, which ZITADEL uses, generates codes or reports an error.
  it.each([
    'JBSWY3DPEHPK3PXP',
    'jbswy3dpehpk3pxp',
    ' JBSWY3DPEHPK3PXP\n',
    'AA',
    'AAAA',
    'AAAAA',
    'AAAAAAA',
    'AA==',
    'AAAA===',
    'AA======',
    'JBSWY3DPEHPK3PX=',
    'A'.repeat(2_000),
  ])('may be %j', (seed) => {
    expect(isTotpSeed(seed)).toBe(true);
  });

  it.each([
    ...['JBSW Y3DP EHPK 3PXP', 'not base32 !', 'A', 'AAA', 'AAAAAA', 'ABCDEFGH=', 'JBSWY3DPEHPK3P=='],
    ...['JBSWY3DPEHPK3PXP========', 'AAAA====AAAAAAAA', 'otpauth://totp/x?secret=JBSWY3DPEHPK3PXP'],
    ...['\ufeffJBSWY3DP', 'ÄÖÜ', '=', ' ', ''],
  ])('is not %j', (seed) => {
    expect(isTotpSeed(seed)).toBe(false);
  });
});
