import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { DocumentKey } from '../store/store.ts';

/** The prefix of each personal access token. Secret scanners recognise a token by this prefix. */
const PREFIX = 'idpat_';
const TOKEN = /^idpat_([A-Za-z0-9_-]{43})([0-9a-f]{8})$/;

/**
 * Generates a personal access token: a prefix, 32 random bytes in base64url, and the CRC-32 of the preceding
 * characters. By the CRC-32, the service detects a mistyped token without reading the database.
 */
export function generateToken(): string {
  const secret = randomBytes(32).toString('base64url');
  return `${PREFIX}${secret}${checksum(secret)}`;
}

export function isWellFormed(token: string): boolean {
  const [, secret, sum] = TOKEN.exec(token) ?? [];
  return secret !== undefined && sum === checksum(secret);
}

/**
 * Replaces each personal access token in a text with a placeholder, because no output and no log may contain tokens.
 */
export function withoutTokens(text: string): string {
  return text.replace(/idpat_[A-Za-z0-9_-]{43}[0-9a-f]{8}/g, '(a token)');
}

/**
 * Derives a token's id, which is the first half of the token's SHA-256. The id is the key of the token in the store,
 * and users specify it to revoke the token. The id does not reveal the token.
 */
export function tokenId(token: string): string {
  return tokenDigest(token).slice(0, 32);
}

/** Returns the digest of a token. The store contains the digest instead of the token. */
export function tokenDigest(token: string): string {
  return hash('sha256', token);
}

export function matchesDigest(token: string, digest: string): boolean {
  const actual = Buffer.from(tokenDigest(token), 'hex');
  const expected = Buffer.from(digest, 'hex');
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

export function tokenKey(id: string): DocumentKey {
  return { collection: 'tokens', id };
}

function checksum(secret: string): string {
  return crc32(`${PREFIX}${secret}`).toString(16).padStart(8, '0');
}

/** The operations to which a token can be restricted. `identity pat create --only` uses the same names. */
export const operations = ['export', 'import', 'otp-email'] as const;

export type Operation = (typeof operations)[number];
