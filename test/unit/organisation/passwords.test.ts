import { describe, expect, it } from 'vitest';
import { hashPassword } from '../../../shared/auth/password.ts';
import {
  checkComplexityPolicy,
  complexityIssue,
  defaultComplexity,
  isTotpSeed,
  parseComplexity,
  passwordHashWarning,
  passwordIssue,
} from '../../../shared/organisation/passwords.ts';
import { defaultPasswordHashing } from '../../../shared/passwordHashing.ts';

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
  ])('%s breaks the default policy with %s', (password, id) => {
    expect(complexityIssue(defaultComplexity, password)?.id).toBe(id);
  });

  it.each(['Secret1!', 'Aa1 aaaa', 'Aa1😀aaaa', 'Aa1üaaaa'])('%s keeps the default policy', (password) => {
    expect(complexityIssue(defaultComplexity, password)).toBeUndefined();
  });

  it('is what the policy of the organisation asks for, and no more', () => {
    expect(complexityIssue(parseComplexity({ minLength: '4' }), 'abcd')).toBeUndefined();
    expect(complexityIssue(parseComplexity({ minLength: '4', hasNumber: true }), 'abcd')?.id).toBe('DOMAIN-ZBv4H');
  });

  it('counts the length in bytes, as ZITADEL does', () => {
    expect(complexityIssue(parseComplexity({ minLength: '8' }), '😀😀')).toBeUndefined();
    expect(complexityIssue(parseComplexity({ minLength: '9' }), '😀😀')?.id).toBe('DOMAIN-HuJf6');
  });
});

describe('a password of more than 72 bytes', () => {
  const [longest, tooLong] = [`Aa1!${'ü'.repeat(34)}`, `Aa1!${'ü'.repeat(34)}x`];

  it("is ZITADEL's error, whose message has no id", () => {
    expect(passwordIssue(defaultComplexity, defaultPasswordHashing, longest)).toBeUndefined();
    const issue = passwordIssue(defaultComplexity, defaultPasswordHashing, tooLong);
    expect(issue).toEqual({ id: '', key: 'bcrypt: password length exceeds 72 bytes' });
  });

  it('breaks the policy first', () => {
    expect(passwordIssue(defaultComplexity, defaultPasswordHashing, 'x'.repeat(73))?.id).toBe('DOMAIN-VoaRj');
  });

  it('is fine for argon2id', () => {
    expect(passwordIssue(defaultComplexity, { algorithm: 'argon2id' }, tooLong)).toBeUndefined();
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

const bcrypt = 'N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy';
const sha512 = 'a'.repeat(86);

describe('a password hash', () => {
  it.each([
    `$2a$10$${bcrypt}`,
    `$2b$10$${bcrypt}`,
    `$2y$10$${bcrypt}`,
    `$2a$04$${bcrypt}`,
    `$2a$31$${bcrypt}`,
    `$2a$10$${bcrypt}x`,
    `$2a$10$${bcrypt} `,
    `$2a$10$${bcrypt}\n`,
  ])('such as %j verifies in every ZITADEL', (hash) => {
    expect(passwordHashWarning(hash)).toBeUndefined();
  });

  it('that this service makes does so', async () => {
    expect(passwordHashWarning(await hashPassword('Secret1!'))).toBeUndefined();
  });

  it.each([
    ['$argon2id$v=19$m=65536,t=1,p=4$c2FsdHNhbHRzYWx0$Ai0pmtUIJ0aPLrQ0NYSyYIxYFMlaYaNyeGs3fpd3zOk', 'argon2'],
    ['$argon2i$v=19$m=65536,t=1,p=4$c2FsdHNhbHRzYWx0$Ai0pmtUIJ0aPLrQ0NYSyYIxYFMlaYaNyeGs3fpd3zOk', 'argon2'],
    ['$scrypt$ln=16,r=8,p=1$c2FsdA$aGFzaA', 'scrypt'],
    ['$pbkdf2-sha256$12$c2FsdA$aGFzaA', 'pbkdf2'],
    ['$pbkdf2$12$c2FsdA$aGFzaA', 'pbkdf2'],
    ['$1$salt$qJH7.N4xYta3aEG/dfqo/0', 'md5crypt'],
    ['$md5salted-suffix$kJ4QkJaQ$3EbD/pJddrq5HW3mpZ4KZ1', 'md5salted'],
    ['5f4dcc3b5aa765d61d8327deb882cf99', 'md5plain'],
    ['$P$984478476IagS59wHZvyQMArzfx58u.', 'phpass'],
    [`$S$D${'a'.repeat(51)}`, 'drupal7'],
    [`$5$rounds=5000$salt$${'a'.repeat(43)}`, 'sha256crypt'],
    [`$6$salt$${sha512}`, 'sha512crypt'],
  ])('such as %s is %s, which a ZITADEL must be configured for', (hash, format) => {
    const message = expect.stringMatching(new RegExp(`^not every system verifies ${format}(?:id|i)? hashes: `));
    expect(passwordHashWarning(hash)).toEqual({ reason: 'hash_unverified', message });
  });

  it.each([
    'not a hash',
    'password',
    'x',
    '$2a$10$short',
    `$2$10$${bcrypt}`,
    `$2x$10$${bcrypt}`,
    `$2c$10$${bcrypt}`,
    `$2a$03$${bcrypt}`,
    `$2a$32$${bcrypt}`,
    `$2a$10$${bcrypt.slice(1)}`,
    `$2a$10$${bcrypt.slice(1)}!`,
    '$argon2d$v=19$m=1,t=1,p=1$a$b',
    `$6$salt$${sha512}x`,
  ])('such as %j verifies nowhere', (hash) => {
    const message = expect.stringContaining('unsupported password hash format');
    expect(passwordHashWarning(hash)).toEqual({ reason: 'hash_unsupported', message });
  });
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
    'JBSW Y3DP EHPK 3PXP',
    'not base32 !',
    'A',
    'AAA',
    'AAAAAA',
    'ABCDEFGH=',
    'JBSWY3DPEHPK3P==',
    'JBSWY3DPEHPK3PXP========',
    'AAAA====AAAAAAAA',
    'otpauth://totp/x?secret=JBSWY3DPEHPK3PXP',
    '\ufeffJBSWY3DP',
    'ÄÖÜ',
    '=',
    ' ',
    '',
  ])('is not %j', (seed) => {
    expect(isTotpSeed(seed)).toBe(false);
  });
});
