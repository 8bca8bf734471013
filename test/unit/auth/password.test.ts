import { stat } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { hashPassword, verifyPassword } from '../../../shared/auth/password.ts';

const encoded = await hashPassword('Pässwörd 1!');

describe('a hashed password', () => {
  it("is argon2id with OWASP's parameters, in PHC's format", () => {
    expect(encoded).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  });

  it('does not tell the password, and is another one each time', async () => {
    expect(encoded).not.toContain('rd 1!');
    expect(await hashPassword('Pässwörd 1!')).not.toBe(encoded);
  });

  it('is verified by that password alone', async () => {
    expect(await verifyPassword('Pässwörd 1!', encoded)).toBe(true);
    for (const other of ['', 'pässwörd 1!', 'Pässwörd 1! ', 'Pa\u0308sswo\u0308rd 1!', 'Pässwörd 1!\0']) {
      expect(await verifyPassword(other, encoded)).toBe(false);
    }
  });

  it.each([
    ['nothing', ''],
    ['bcrypt', '$2a$10$blOExq/eBO9Va//hs4FAL.ZPvj9NtlQC1GrH97if7Y8vQgJfSYqUq'],
    ['argon2id with other parameters', encoded.replace('t=2', 't=1')],
    ['a salt of another', encoded.replace(/\$[^$]+\$([^$]+)$/, '$AAAAAAAAAAAAAAAAAAAAAA$$$1')],
    ['a hash cut off', encoded.slice(0, -1)],
    ['a hash with more after it', `${encoded}A`],
    ['a hash and a line break', `${encoded}\n`],
  ])('is not verified by %s', async (_what, other) => {
    expect(await verifyPassword('Pässwörd 1!', other)).toBe(false);
  });
});

describe('many passwords at once', () => {
  it('leave room for other work of the thread pool', async () => {
    let hashed = 0;
    const hashing = Promise.all(Array.from({ length: 40 }, () => hashPassword('Secret1!').then(() => hashed++)));
    await stat('.');
    expect(hashed).toBeLessThan(20);
    await hashing;
    expect(hashed).toBe(40);
    expect(await verifyPassword('Pässwörd 1!', encoded)).toBe(true);
  });
});
