import { describe, expect, it } from 'vitest';
import { hashPassword } from '../../../shared/auth/passwordHashing.ts';
import {
  describeVerifiers,
  hashVerification,
  optionalVerifier,
  passwordHashWarning,
  verifierIn,
} from '../../../shared/organisation/hashFormats.ts';
import { allReleases } from '../../../shared/organisation/zitadelReleases.ts';

const bcrypt = 'N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy';
const sha512 = 'a'.repeat(86);
const argon2 = 'cmFuZG9tc2FsdGlzaGFyZA$YMvo8AUoNtnKYGqeODruCjHdiEbl1pKL2MsYy9VgU/E';
const scrypt = 'cmFuZG9tc2FsdGlzaGFyZA$Rh+NnJNo1I6nRwaNqbDm6kmADswD1+7FTKZ7Ln9D8nQ';
const key = 'cmFuZG9tc2FsdGlzaGFyZA$OFvEcLOIPFd/oq8egf10i';

describe('a password hash', () => {
  it.each([
    `$2a$10$${bcrypt}`,
    `$2b$10$${bcrypt}`,
    `$2y$16$${bcrypt}`,
    `$2a$10$${bcrypt}x`,
    `$2a$10$${bcrypt} `,
    `$2a$10$${bcrypt}\n`,
  ])('such as %j is verified by every ZITADEL', (hash) => {
    expect(passwordHashWarning(hash)).toBeUndefined();
    expect(hashVerification(hash)).toEqual({ format: 'bcrypt', verifier: 'bcrypt', isWithinBounds: true });
  });

  it.each([4, 9, 17, 31])('of bcrypt at cost %d is verified, and beyond the bounds of an import', (cost) => {
    const hash = `$2b$${String(cost).padStart(2, '0')}$${bcrypt}`;
    expect(passwordHashWarning(hash)).toBeUndefined();
    expect(hashVerification(hash)).toEqual({ format: 'bcrypt', verifier: 'bcrypt', isWithinBounds: false });
  });

  it('that this service makes is verified by every ZITADEL', async () => {
    expect(passwordHashWarning(await hashPassword('Secret1!'))).toBeUndefined();
  });

  it.each([
    [`$argon2id$v=19$m=65536,t=1,p=4$${argon2}`, 'argon2', 'argon2'],
    [`$argon2i$v=19$m=65536,t=1,p=4$${argon2}`, 'argon2', 'argon2'],
    [`$argon2id$v=19$m=65536,t=1,p=4$${argon2}$rest`, 'argon2', 'argon2'],
    [`$scrypt$ln=16,r=8,p=1$${scrypt}`, 'scrypt', 'scrypt'],
    [`$7$ln=16,r=8,p=1$${scrypt}`, 'scrypt', 'scrypt'],
    [`$pbkdf2-sha256$12000$${key}.qJLI7A8nDjPLnolCWarQY`, 'pbkdf2', 'pbkdf2'],
    [`$pbkdf2-sha256$12000$${key}+qJLI7A8nDjPLnolCWarQY=`, 'pbkdf2', 'pbkdf2'],
    ['$pbkdf2$12000$cmFuZG9tc2FsdGlzaGFyZA==$mwUqsMixIYMc/0eN4v1.l3SVDpk', 'pbkdf2', 'pbkdf2'],
    ['$1$salt$qJH7.N4xYta3aEG/dfqo/0', 'md5crypt', 'md5'],
    ['$md5salted-suffix$c2FsdA==$R58+SD/95ORa9VZ9BPS5FA==', 'md5salted', 'md5salted', '3.0'],
    ['5f4dcc3b5aa765d61d8327deb882cf99', 'md5plain', 'md5plain'],
    ['$P$984478476IagS59wHZvyQMArzfx58u.', 'phpass', 'phpass', '3.1'],
    ['$S$ErandomsaOpYrAZqwxGynirQbWYCb3ejW4BwGH81LJcOzbzeVd02', 'drupal7', 'drupal7', '4.6'],
    [`$5$rounds=5000$salt$${'a'.repeat(43)}`, 'sha256crypt', 'sha2', '3.1'],
    [`$6$salt$${sha512}`, 'sha512crypt', 'sha2', '3.1'],
  ])("such as %s is %s, verified where ZITADEL's setting has %s", (hash, format, verifier, since = '') => {
    expect(hashVerification(hash)).toEqual({ format, verifier, isWithinBounds: true });
    const releases = since === '' ? '' : `from ZITADEL ${since} on, and only `;
    const where = `verified only ${releases}if SystemDefaults.PasswordHasher.Verifiers has ${verifier}`;
    expect(describeVerifiers(format)).toBe(where);
    const message = expect.stringContaining(`${format} hashes are ${where}; otherwise the user cannot log in`);
    expect(passwordHashWarning(hash)).toMatchObject({ reason: 'hash_unverified', message });
  });

  it.each([
    ['of scrypt', `$scrypt$ln=16,r=8,p=1$${scrypt}`, 'scrypt', ['scrypt', 'scrypt', 'scrypt']],
    [
      'of md5salted',
      '$md5salted-suffix$c2FsdA==$R58+SD/95ORa9VZ9BPS5FA==',
      'md5salted',
      [undefined, 'md5salted', 'md5salted'],
    ],
    ['of phpass', '$P$984478476IagS59wHZvyQMArzfx58u.', 'phpass', [undefined, 'phpass', 'phpass']],
    ['of sha2', `$6$salt$${sha512}`, 'sha2', [undefined, 'sha2', 'sha2']],
    [
      'of drupal7',
      '$S$ErandomsaOpYrAZqwxGynirQbWYCb3ejW4BwGH81LJcOzbzeVd02',
      'drupal7',
      [undefined, undefined, 'drupal7'],
    ],
    ['of bcrypt', `$2a$10$${bcrypt}`, 'bcrypt', ['bcrypt', 'bcrypt', 'bcrypt']],
    ['of an unknown format', 'not a hash', undefined, [undefined, undefined, undefined]],
  ])('%s is verified only by releases that have its verifier', (_, hash, verifier, inReleases) => {
    const majors = [{ until: '2' }, { since: '3', until: '3' }, { since: '4' }] as const;
    for (const [index, expected] of inReleases.entries())
      expect(verifierIn(hash, majors[index] ?? allReleases)).toBe(expected);
    expect(verifierIn(hash, { until: '4' })).toBe(verifier);
    expect(optionalVerifier(hash, allReleases)).toBe(verifier === 'bcrypt' ? undefined : verifier);
  });

  it.each([
    `$argon2id$v=19$m=4096,t=3,p=1$${argon2}`,
    `$argon2id$v=19$m=65536,t=11,p=1$${argon2}`,
    `$argon2id$v=19$m=65536,t=1,p=17$${argon2}`,
    `$scrypt$ln=13,r=8,p=1$${scrypt}`,
    '$pbkdf2$12$cmFuZG9tc2FsdGlzaGFyZA$mwUqsMixIYMc/0eN4v1.l3SVDpk',
    '$P$112345678si5M0DDyPpmRCmcltU/YW/',
    `$S$7${'a'.repeat(51)}`,
    `$S$H${'a'.repeat(51)}`,
  ])('such as %s is verified where enabled, and beyond the bounds of an import', (hash) => {
    expect(hashVerification(hash)).toMatchObject({ verifier: expect.any(String), isWithinBounds: false });
  });

  it.each([
    ...['not a hash', 'password', '', 'x', '$2a$10$short', `$2$10$${bcrypt}`, `$2x$10$${bcrypt}`],
    ...[`$2c$10$${bcrypt}`, `$2a$03$${bcrypt}`, `$2a$32$${bcrypt}`, `$2a$10$${bcrypt.slice(1)}`],
    ...[`$2a$10$${bcrypt.slice(1)}!`, `$argon2d$v=19$m=65536,t=1,p=1$${argon2}`],
    ...[`$argon2id$m=65536,t=1,p=4$${argon2}`, `$argon2id$v=16$m=65536,t=1,p=4$${argon2}`],
    ...[`$argon2id$v=19$m=4294967296,t=1,p=4$${argon2}`, `$argon2id$v=19$m=65536,t=0,p=4$${argon2}`],
    ...[`$argon2id$v=19$m=65536,t=1,p=256$${argon2}`, `$scrypt$ln=0,r=8,p=1$${scrypt}`],
    ...[`$scrypt$ln=64,r=8,p=1$${scrypt}`, `$pbkdf2-sha256$4294967296$${key}.qJLI7A8nDjPLnolCWarQY`],
    ...[`$argon2id$v=19$m=65536,t=1,p=4$${argon2}=`, '$argon2id$v=19$m=65536,t=1,p=4$c2FsdB$aGFzaA'],
    `$7$CU..../....SodiumChloride$kBGj9fHznVYFQMEn/qDCfrDevf9YDtcDdKvEqHJLV8D`,
    ...['$pbkdf2-sha1$12000$cmFuZG9tc2FsdGlzaGFyZA$mwUqsMixIYMc/0eN4v1.l3SVDpk', `$pbkdf2-sha512-256$12000$${key}`],
    `$pbkdf2-sha256$12000$${key}+qJLI7.`,
    'pbkdf2_sha256$870000$mkMhRA3bpiV7$GDkKvfuzu6b9YrKGk1jy3pKkA/DUIKYc9rYEuzRLoIw=',
    ...['$md5salted-suffix$kJ4QkJaQ$3EbD/pJddrq5HW3mpZ4KZ1', '$md5salted-middle$c2FsdA==$R58+SD/95ORa9VZ9BPS5FA=='],
    ...[`$5$rounds=999$salt$${'a'.repeat(43)}`, `$6$${'s'.repeat(17)}$${sha512}`, `$6$salt$${sha512}x`],
  ])('such as %j is verified by no ZITADEL', (hash) => {
    expect(hashVerification(hash)).toEqual({ format: 'unknown', isWithinBounds: false });
    expect(describeVerifiers('unknown')).toBe('no release of ZITADEL verifies this format');
    const message = expect.stringMatching(/^no release of ZITADEL verifies this format of password hashes/);
    expect(passwordHashWarning(hash)).toMatchObject({ reason: 'hash_unsupported', message });
  });
});
