import { describe, expect, it } from 'vitest';
import { hashPassword } from '../../../shared/auth/password.ts';
import {
  complexityIssue,
  defaultComplexity,
  parseComplexity,
  passwordHashFormat,
} from '../../../shared/organisation/passwords.ts';

const sha512 = 'a'.repeat(86);

describe('the complexity of a password', () => {
  it.each([
    ['Secret1', 'DOMAIN-HuJf6'],
    ['SECRET1!', 'DOMAIN-co3Xw'],
    ['secret1!', 'DOMAIN-VoaRj'],
    ['Secrets!', 'DOMAIN-ZBv4H'],
    ['Secrets1', 'DOMAIN-ZDLwA'],
  ])('%s breaks the default policy with %s', (password, id) => {
    expect(complexityIssue(defaultComplexity, password)?.id).toBe(id);
  });

  it.each(['Secret1!', 'Sécrêt1 x', 'Пароль12 длинный'])('%s keeps the default policy', (password) => {
    expect(complexityIssue(defaultComplexity, password)).toBeUndefined();
  });

  it('is what the policy of the organisation asks for, and no more', () => {
    expect(complexityIssue(parseComplexity({ minLength: '4' }), 'abcd')).toBeUndefined();
    expect(complexityIssue(parseComplexity({ minLength: '4', hasNumber: true }), 'abcd')?.id).toBe('DOMAIN-ZBv4H');
    expect(complexityIssue(parseComplexity({ minLength: '5' }), '😀😀😀😀')?.id).toBe('DOMAIN-HuJf6');
  });
});

describe('the format of a password hash', () => {
  it.each([
    ['$2a$14$aPbwhMVJSVrRRW2NoM/5.esSJO6o/EIGzGxWiM5SAEZlGqCsr9DAK', 'bcrypt'],
    ['$2y$10$blOExq/eBO9Va//hs4FAL.ZPvj9NtlQC1GrH97if7Y8vQgJfSYqUq', 'bcrypt'],
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
  ])('of %s is %s', (hash, format) => {
    expect(passwordHashFormat(hash)).toBe(format);
  });

  it.each(['not a hash', '', '$2a$10$short', '$argon2d$v=19$m=1,t=1,p=1$a$b', `$6$salt$${sha512}x`, 'password'])(
    'of %j is none that is known',
    (hash) => {
      expect(passwordHashFormat(hash)).toBeUndefined();
    },
  );

  it('of what this service makes is known', async () => {
    expect(passwordHashFormat(await hashPassword('Secret1!'))).toBe('argon2');
  });
});
