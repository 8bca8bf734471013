import { stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { hashPassword, verifyPassword } from '../../../shared/auth/passwordHashing.ts';

const PASSWORD = 'Pässwörd 1!';
/** The lowest cost of bcrypt, which keeps tests fast. */
const fast = 4;
/** Derived by node:crypto with OWASP's parameters. */
const argon2idHash =
  '$argon2id$v=19$m=19456,t=2,p=1$YS1zYWx0LW9mLTE2LWJ5dA$Q/rEd0QA8XEOnnJa86WxdkCEtoUupfVeADrZDqEBT0I';
const otherPasswords = ['', 'pässwörd 1!', 'Pässwörd 1! ', 'Pa\u0308sswo\u0308rd 1!', 'Pässwörd 1!\0'];

describe('a hashed password', () => {
  it('is bcrypt of cost 12 by default', async () => {
    const encoded = await hashPassword(PASSWORD);
    expect(encoded).toMatch(/^\$2b\$12\$[./A-Za-z0-9]{53}$/);
  });

  it('does not contain the password, and differs each time', async () => {
    const encoded = await hashPassword(PASSWORD, fast);
    expect(encoded).not.toContain('rd 1!');
    expect(await hashPassword(PASSWORD, fast)).not.toBe(encoded);
  });

  it.each([
    ['bcrypt', hashPassword(PASSWORD, fast), otherPasswords],
    ['argon2id', argon2idHash, otherPasswords.slice(0, 2)],
  ])('by %s is verified by that password alone', async (_algorithm, hashed, others) => {
    const encoded = await hashed;
    expect(await verifyPassword(PASSWORD, encoded)).toBe(true);
    for (const other of others) expect(await verifyPassword(other, encoded)).toBe(false);
  });
});

describe('bcrypt', () => {
  // Derived by golang.org/x/crypto/bcrypt, which ZITADEL uses.
  it.each([
    ['Secret1!', '$2a$04$0FeH2n/HkL3VlfhIrdqmFOMe8Bma2Z9NuTeYreLayEE88ld.VDGIC'],
    ['Pässwörd 😀', '$2a$04$TH1QSf5zFAP9UvQR26Ycmui9Qd0hQAChGkbxd5dqkAqlm5riLfUym'],
    ['x'.repeat(72), '$2a$04$xSOKfbjTToEbnyI3WRomwODe5RxBJDTqtKdAD6OsnkzFoFbkQO4h.'],
  ])('verifies %j as ZITADEL does', async (password, encoded) => {
    expect(await verifyPassword(password, encoded)).toBe(true);
  });

  it('uses 72 bytes of a password, and no more', async () => {
    const longest = `${'x'.repeat(70)}é`;
    const encoded = await hashPassword(longest, fast);
    expect(await verifyPassword(longest, encoded)).toBe(true);
    expect(await verifyPassword(`${longest}x`, encoded)).toBe(false);
    await expect(hashPassword(`${longest}x`, fast)).rejects.toThrow(RangeError);
  });

  it('ignores text after a hash, and does not verify hashes with a cost that would take hours', async () => {
    const encoded = await hashPassword(PASSWORD, fast);
    expect(await verifyPassword(PASSWORD, `${encoded}\n`)).toBe(true);
    expect(await verifyPassword(PASSWORD, encoded.replace('$04$', '$31$'))).toBe(false);
  });
});

describe('a password', () => {
  it.each([
    ['nothing', ''],
    ['bcrypt of another password', '$2a$10$blOExq/eBO9Va//hs4FAL.ZPvj9NtlQC1GrH97if7Y8vQgJfSYqUq'],
    ['truncated bcrypt', '$2a$10$blOExq/eBO9Va//hs4FAL.ZPvj9NtlQC1GrH97if7Y8vQgJfSYqU'],
  ])('is not verified by %s', async (_what, other) => {
    expect(await verifyPassword(PASSWORD, other)).toBe(false);
  });

  it.each([
    ['other parameters', (encoded: string) => encoded.replace('t=2', 't=1')],
    ['a salt of another', (encoded: string) => encoded.replace(/\$[^$]+\$([^$]+)$/, '$AAAAAAAAAAAAAAAAAAAAAA$$$1')],
    ['a part missing', (encoded: string) => encoded.slice(0, -1)],
    ['more after it', (encoded: string) => `${encoded}A`],
    ['a line break', (encoded: string) => `${encoded}\n`],
  ])('is not verified by argon2id with %s', async (_what, change) => {
    expect(await verifyPassword(PASSWORD, change(argon2idHash))).toBe(false);
  });
});

describe('many passwords at once', () => {
  const cost = 7;

  it.each([
    ['hashed with bcrypt', () => hashPassword('Secret1!', cost)],
    ['verified with argon2id', () => verifyPassword('Secret1!', argon2idHash)],
  ])('that are %s leave room for other work', async (_what, derive) => {
    let derived = 0;
    const all = Promise.all(Array.from({ length: 24 }, () => derive().then(() => derived++)));
    await stat('.');
    await setImmediate();
    expect(derived).toBeLessThan(24);
    await all;
    expect(derived).toBe(24);
  });

  it.each([
    ['hashed with bcrypt', (signal?: AbortSignal) => hashPassword('Secret1!', cost, signal)],
    ['verified with argon2id', (signal?: AbortSignal) => verifyPassword('Secret1!', argon2idHash, signal)],
  ])('that are %s end when their signal aborts', async (_what, derive) => {
    const controller = new AbortController();
    const reason = new Error('the time is over');
    const all = Array.from({ length: 60 }, () => derive(controller.signal));
    await all[0];
    controller.abort(reason);
    const results = await Promise.allSettled(all);
    const dropped = results.filter((result) => result.status === 'rejected');
    expect(dropped.length).toBeGreaterThan(0);
    expect(new Set(dropped.map((result) => result.reason))).toEqual(new Set([reason]));
    await derive();
  });
});
